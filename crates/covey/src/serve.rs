//! `covey serve`: the web UI and the API, on this machine.

mod code;
mod cut_off;
mod preferences;

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use engine::Engine;
use protocol::ModelRef;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use server::{Options, Server, Token};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::attach::Door;
use crate::cli::ServeArguments;
use crate::discover::discover;
use crate::exit::{Exit, Failure};
use crate::in_process::InProcess;
use crate::leave::builds_end;
use crate::login::open_browser;
use crate::run::interrupts::Interrupts;
use crate::settings::Settings;
use crate::terminal::{Stream, Style, print, tell};

use code::Indexes;
use cut_off::CutOff;
use preferences::Own;

/// The same every time, so that what a browser keeps for an address is found again. Any other will do when it is taken.
const PORT: u16 = 8417;

pub(crate) fn serve(arguments: &ServeArguments) -> Result<Exit, Failure> {
    allow_many_files();
    // Many sessions and many who watch: unlike one person's run this is worth several threads.
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime
        .map_err(|error| Failure::new(format!("could not start: {error}")))?
        .block_on(serve_async(arguments))
}

/// A socket for each who watches and a log for each session: more than the 1,024 files that most systems begin with.
/// Where it can not be raised, the server runs with what there is.
fn allow_many_files() {
    let limit = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}

async fn serve_async(arguments: &ServeArguments) -> Result<Exit, Failure> {
    let mut settings = Settings::load(arguments.cwd.as_deref(), &[])?;
    let door = Door::make(&mut settings);
    let engine = engine(&settings).await?;
    let mut interrupts = Interrupts::new()?;
    let listener = listen(arguments.bind.as_deref()).await?;
    let address = listener.local_addr()?;
    let token = Token::random()?;
    let indexes = Arc::new(Indexes {
        engine: engine.clone(),
        cwd: settings.cwd.clone(),
        options: crate::index::options(&settings)?,
        kept: Mutex::default(),
    });
    indexes.keep_own();
    let options = Options {
        token: token.clone(),
        names: arguments.host.clone(),
        cwd: settings.cwd.to_string_lossy().into_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        code_search: Some(indexes),
        preferences: Some(Arc::new(Own { engine: engine.clone(), cwd: settings.cwd.clone() })),
    };
    let shutdown = CancellationToken::new();
    let client = InProcess::new(engine.clone());
    let _open = door.map(|door| door.open(&settings, client.clone()));
    let server = tokio::spawn(Server::new(listener, client, options, shutdown.clone())?.run());
    let tidy = tokio::spawn(tidy(engine.clone(), arguments.idle.0));
    let cut_off = CutOff::found(settings.home.data_dir(), settings.store("covey serve"));
    let cut_off = tokio::spawn(cut_off.watch(engine.clone()));

    announce(arguments, address, &token)?;
    if arguments.open {
        open(&settings, address, &token)?;
    }
    interrupts.next().await;
    if Stream::Err.is_terminal() {
        tell("\nstopping; once more to quit at once\n");
    }
    interrupts.quit_on_next();
    tidy.abort();
    shutdown.cancel();
    let over = async {
        // A panic was reported where it happened.
        let _ = server.await;
        engine.settle(Duration::from_secs(arguments.grace)).await;
        // What is cut off now keeps its note.
        cut_off.abort();
        builds_end(&engine, |words| tell(&format!("{words}\n"))).await;
        engine.shutdown().await;
    };
    tokio::select! {
        () = over => Ok(Exit::Done),
        // Ends the process.
        () = interrupts.next() => Ok(Exit::Cancelled),
    }
}

/// The engine, with a model if there is one. Without, the web UI helps to get one.
async fn engine(settings: &Settings) -> Result<Engine, Failure> {
    let catalogue = settings.catalogue()?;
    let mut model = settings.model()?.or_else(|| catalogue.main().map(ModelRef::new));
    if model.is_none() {
        model = discover(&catalogue, &settings.configured_providers()).await.map(|found| found.model);
    }
    settings.engine(settings.store("covey serve"), catalogue, model)
}

async fn listen(bind: Option<&str>) -> Result<TcpListener, Failure> {
    let cannot = |address: &str, error: io::Error| {
        Failure::new(format!("could not listen on {address}: {error}"))
            .hint("name another address: covey serve --bind 127.0.0.1:PORT")
    };
    let Some(bind) = bind else {
        let usual = TcpListener::bind((Ipv4Addr::LOCALHOST, PORT)).await;
        return match usual {
            Ok(listener) => Ok(listener),
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
                TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.map_err(|error| cannot("127.0.0.1", error))
            }
            Err(error) => Err(cannot(&format!("127.0.0.1:{PORT}"), error)),
        };
    };
    let address = address(bind).ok_or_else(|| {
        Failure::usage(format!("`{bind}` is not an address")).hint("such as 127.0.0.1:8417, or 8417")
    })?;
    TcpListener::bind(address).await.map_err(|error| cannot(bind, error))
}

/// `ADDRESS:PORT`, or only one of the two.
fn address(text: &str) -> Option<SocketAddr> {
    let on_this_machine =
        || text.parse::<u16>().ok().map(|port| SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    let at_the_usual_port = || text.parse::<IpAddr>().ok().map(|address| SocketAddr::new(address, PORT));
    text.parse().ok().or_else(on_this_machine).or_else(at_the_usual_port)
}

/// The address to open, with the token where browsers keep it to themselves.
fn link(address: SocketAddr, token: &Token) -> String {
    format!("{}#token={}", base(address), token.reveal())
}

fn base(address: SocketAddr) -> String {
    let reachable = if address.ip().is_unspecified() { Ipv4Addr::LOCALHOST.into() } else { address.ip() };
    format!("http://{}/", SocketAddr::new(reachable, address.port()))
}

fn announce(arguments: &ServeArguments, address: SocketAddr, token: &Token) -> Result<(), Failure> {
    if arguments.json {
        let line = serde_json::json!({"url": base(address), "token": token.reveal()});
        print(&format!("{line}\n"))?;
    } else {
        print(&format!("{}\n", link(address, token)))?;
        if Stream::Err.is_terminal() {
            let style = Style::of(Stream::Err);
            tell(&format!("{}\n", style.faint("open it in a browser · ctrl-c stops")));
        }
    }
    if !address.ip().is_loopback() {
        let port = address.port();
        tell(&format!(
            "warning: {address} can be reached by others, and what is sent is not encrypted\n\
             hint: rather listen on this machine only and use one of these\n  \
             ssh -L {port}:127.0.0.1:{port} THIS-MACHINE      then open the address on the other one\n  \
             caddy reverse-proxy --from covey.example.org --to 127.0.0.1:{port}      and: covey serve --host covey.example.org\n"
        ));
    }
    Ok(())
}

/// Opens the browser with a private file that leads on: an address in a command line can be seen by everybody on this
/// machine.
fn open(settings: &Settings, address: SocketAddr, token: &Token) -> Result<(), Failure> {
    use std::io::Write as _;
    let folder = settings.home.data_dir().join("run");
    project::create_private_dir(&folder)?;
    let mut page = tempfile::Builder::new().prefix("open-").suffix(".html").tempfile_in(&folder)?;
    write!(page, "<!doctype html><meta http-equiv=refresh content=\"0;url={}\">", link(address, token))?;
    let (_, path) = page.keep().map_err(|error| Failure::new(error.to_string()))?;
    open_browser(&path.to_string_lossy());
    // The browser has read it by then.
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(30)).await;
        let _ = std::fs::remove_file(path);
    });
    Ok(())
}

/// Lets go of sessions that nobody uses.
async fn tidy(engine: Engine, idle: Duration) {
    let mut due = tokio::time::interval((idle / 5).max(Duration::from_millis(10)));
    loop {
        due.tick().await;
        engine.park_idle(idle).await;
    }
}
