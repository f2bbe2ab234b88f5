//! The measures. Targets are for a machine of two ordinary cores; each is what the best of its kind has, or better.

use std::fs;
use std::time::Instant;

use super::catcher::Catcher;
use super::child::Used;
use super::report::{Line, Samples};
use super::stage::Stage;
use crate::run::Failure;

pub(super) const CHEAP: usize = 20;
pub(super) const DEAR: usize = 5;
const DELTAS: usize = 20_000;
const MANY: &str = "10000";
const MB: f64 = 1e6;

/// Measures that are taken together.
pub(super) struct Group {
    pub(super) about: &'static str,
    pub(super) measures: &'static [&'static str],
    pub(super) run: fn(&mut Stage) -> Result<Vec<Line>, Failure>,
}

const OWN: &[Group] = &[
    Group { about: "covey --version", measures: &["version_cpu_ms"], run: version },
    Group {
        about: "covey run hello",
        measures: &["hello_cpu_ms", "hello_exec_to_request_ms", "hello_peak_rss_mb", "first_body_bytes"],
        run: hello,
    },
    Group {
        about: "an answer of 20,000 deltas",
        measures: &["delta_cpu_us", "delta_rss_growth_mb"],
        run: deltas,
    },
    Group { about: "a session of 1 GB", measures: &["open_1gb_ms", "open_1gb_rss_mb"], run: open },
    Group {
        about: "10,000 sessions",
        measures: &["list_10000_ms", "search_10000_first_ms", "search_10000_ms"],
        run: many_sessions,
    },
    super::agents::GROUP,
    super::screen::GROUP,
    super::sandbox::GROUP,
    super::index::GROUP,
];

/// All of them, in the order in which they are taken.
pub(super) fn groups() -> impl Iterator<Item = &'static Group> {
    OWN.iter().chain(super::turns::GROUPS).chain(super::files::GROUPS)
}

fn version(stage: &mut Stage) -> Result<Vec<Line>, Failure> {
    let home = stage.home("home", "http://127.0.0.1:9/v1")?;
    let used = stage.many(CHEAP, || stage.covey(&home, &["--version"]))?;
    Ok(vec![
        Line::median("version_cpu_ms", &cpu_ms(&used), "ms", Some(3.0)).with("wall", wall_ms(&used).median()),
    ])
}

fn hello(stage: &mut Stage) -> Result<Vec<Line>, Failure> {
    let server = stage.server(&[])?;
    let home = stage.home("home", &server)?;
    let used = stage.many(CHEAP, || stage.covey(&home, &["run", "hello"]))?;
    expect(stage, "scripted model")?;

    let catcher = Catcher::start()?;
    let caught_home = stage.home("caught", &catcher.base_url())?;
    let mut to_request = Vec::new();
    let mut body = Vec::new();
    for run in 0..=CHEAP {
        let command = stage.covey(&caught_home, &["run", "hello"])?;
        let started = Instant::now();
        stage.once(command)?;
        let caught = catcher.next()?;
        if run > 0 {
            to_request.push(caught.at.duration_since(started).as_secs_f64() * 1e3);
        }
        body = caught.body;
    }
    let file = stage.path().join("hello.json");
    fs::write(&file, &body)?;
    let floor = stage.many(CHEAP, || stage.floor(&server, &file, 0))?;
    expect(stage, "scripted model")?;

    let (cpu, floor_cpu) = (cpu_ms(&used), cpu_ms(&floor));
    Ok(vec![
        Line::median("hello_cpu_ms", &cpu, "ms", Some(12.0))
            .with("floor", floor_cpu.median())
            .with("times_floor", cpu.median() / floor_cpu.median())
            .with("wall", wall_ms(&used).median()),
        Line::median("hello_exec_to_request_ms", &Samples::new(to_request), "ms", Some(25.0)),
        Line::median("hello_peak_rss_mb", &peak_mb(&used), "MB", Some(30.0))
            .with("floor", peak_mb(&floor).median()),
        Line::new("first_body_bytes", body.len() as f64, "bytes", Some(12_000.0)),
    ])
}

fn deltas(stage: &mut Stage) -> Result<Vec<Line>, Failure> {
    let server = stage.server(&[])?;
    let by_frame = stage.server(&["--deltas", &DELTAS.to_string(), "--frame-writes"])?;
    let home = stage.home("home", &server)?;
    let frames_home = stage.home("frames", &by_frame)?;
    let prompt = format!("[[repeat:{DELTAS}]]");
    let hello = stage.many(CHEAP, || stage.covey(&home, &["run", "hello"]))?;
    let used = stage.many(DEAR, || stage.covey(&home, &["run", &prompt]))?;
    if stage.printed()?.matches("word").count() != DELTAS {
        return Err(Failure::new(format!("the answer did not have {DELTAS} words")));
    }
    let frames = stage.many(DEAR, || stage.covey(&frames_home, &["run", &prompt]))?;

    let catcher = Catcher::start()?;
    let caught_home = stage.home("caught", &catcher.base_url())?;
    let mut bodies = Vec::new();
    for prompt in ["hello", &prompt] {
        stage.once(stage.covey(&caught_home, &["run", prompt])?)?;
        let file = stage.path().join(format!("body-{}.json", bodies.len()));
        fs::write(&file, catcher.next()?.body)?;
        bodies.push(file);
    }
    let floor_hello = stage.many(CHEAP, || stage.floor(&server, &bodies[0], 0))?;
    let floor = stage.many(DEAR, || stage.floor(&server, &bodies[1], 0))?;

    let each = |all: &[Used], hello: &[Used]| {
        let hello = cpu_ms(hello).median();
        Samples::new(all.iter().map(|used| (ms(used.cpu) - hello) * 1e3 / DELTAS as f64).collect())
    };
    let growth = peak_mb(&used).median() - peak_mb(&hello).median();
    Ok(vec![
        Line::median("delta_cpu_us", &each(&used, &hello), "µs", Some(4.0))
            .with("floor", each(&floor, &floor_hello).median())
            .with("frames", each(&frames, &hello).median())
            .note("32 KB a write; `frames` is one write for each delta"),
        Line::new("delta_rss_growth_mb", growth, "MB", Some(4.0)).with("peak", peak_mb(&used).median()),
    ])
}

fn open(stage: &mut Stage) -> Result<Vec<Line>, Failure> {
    let home = stage.home("large", "http://127.0.0.1:9/v1")?;
    let folder = stage.path().join("large/sessions");
    stage.example(
        "sessions",
        "make_log",
        &["--sessions-dir", &folder.to_string_lossy(), "--bytes", "1000000000"],
    )?;
    let id = only_entry(&folder)?;
    let show = || stage.covey(&home, &["session", "show", &id, "--last", "200"]);
    let used = stage.many(DEAR, show)?;
    expect(stage, "●")?;
    for cache in ["index", "snapshot", "metadata.json"] {
        fs::remove_file(folder.join(&id).join(cache))?;
    }
    let bare = stage.once(show()?)?;
    expect(stage, "●")?;
    Ok(vec![
        Line::median("open_1gb_ms", &wall_ms(&used), "ms", Some(300.0))
            .with("cpu", cpu_ms(&used).median())
            .with("without_index", ms(bare.wall)),
        Line::median("open_1gb_rss_mb", &peak_mb(&used), "MB", Some(150.0))
            .with("without_index", bare.peak as f64 / MB),
    ])
}

fn many_sessions(stage: &mut Stage) -> Result<Vec<Line>, Failure> {
    let home = stage.home("many", "http://127.0.0.1:9/v1")?;
    let folder = stage.path().join("many/sessions");
    stage.example("sessions", "make_log", &["--sessions-dir", &folder.to_string_lossy(), "--count", MANY])?;
    let list = || stage.covey(&home, &["session", "list"]);
    let first_list = stage.once(list()?)?;
    let listed = stage.many(DEAR, list)?;
    let search = || stage.covey(&home, &["session", "search", "coupon"]);
    let first = stage.once(search()?)?;
    let used = stage.many(DEAR, search)?;
    expect(stage, "coupon")?;
    Ok(vec![
        Line::median("list_10000_ms", &wall_ms(&listed), "ms", None)
            .with("first", ms(first_list.wall))
            .with("rss_mb", peak_mb(&listed).median()),
        Line::new("search_10000_first_ms", ms(first.wall), "ms", None)
            .with("cpu", ms(first.cpu))
            .with("rss_mb", first.peak as f64 / MB)
            .note("every session is indexed on the way"),
        Line::median("search_10000_ms", &wall_ms(&used), "ms", None).with("rss_mb", peak_mb(&used).median()),
    ])
}

pub(super) fn only_entry(folder: &std::path::Path) -> Result<String, Failure> {
    let mut names = fs::read_dir(folder)?.flatten().filter(|entry| entry.path().is_dir());
    let first = names.next().ok_or_else(|| Failure::new("make_log made no session"))?;
    Ok(first.file_name().to_string_lossy().into_owned())
}

/// A measure of the wrong thing is worse than none.
pub(super) fn expect(stage: &Stage, text: &str) -> Result<(), Failure> {
    let printed = stage.printed()?;
    if printed.contains(text) {
        Ok(())
    } else {
        Err(Failure::new(format!("`{text}` is not in the answer `{printed}`")))
    }
}

pub(super) fn ms(time: std::time::Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

pub(super) fn cpu_ms(used: &[Used]) -> Samples {
    Samples::new(used.iter().map(|used| ms(used.cpu)).collect())
}

pub(super) fn wall_ms(used: &[Used]) -> Samples {
    Samples::new(used.iter().map(|used| ms(used.wall)).collect())
}

pub(super) fn peak_mb(used: &[Used]) -> Samples {
    Samples::new(used.iter().map(|used| used.peak as f64 / MB).collect())
}
