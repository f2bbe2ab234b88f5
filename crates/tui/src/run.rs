//! The loop: what comes in goes to the [`App`], what it wants is carried out, what it shows is written.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use client::{Client, ClientError, Failure, SessionList};
use futures::StreamExt;
use futures::stream::BoxStream;
use protocol::{AgentId, Event, ListChange, Mode, ModelRef, Op, Request, SessionId, Timestamp};
use tokio::signal::unix::{Signal as SystemSignal, SignalKind, signal};
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::app::{Answer, App, Effect, Input, Setup, Ticket};
use crate::bindings::Bindings;
use crate::keep::Keep;
use crate::keys::Decoder;
use crate::outside::Outside;
use crate::paint::Painter;
use crate::picture;
use crate::terminal;
use crate::theme::Theme;

/// Frames of a stream come no faster than this; keys are answered at once.
const FRAME: Duration = Duration::from_millis(16);
/// An escape character that nothing follows for so long is the key.
const ESCAPE: Duration = Duration::from_millis(25);
/// A size that lasts so long is the size.
const RESIZE: Duration = Duration::from_millis(25);
/// Events that are taken in at once.
const BATCH: usize = 512;
/// How long the end waits for a terminal that takes nothing.
const PATIENCE: Duration = Duration::from_millis(500);

/// How the UI begins.
pub struct Options {
    pub cwd: String,
    /// The folder as it is shown: `~/src/shop`.
    pub place: String,
    pub branch: Option<String>,
    pub agent: AgentId,
    pub model: Option<ModelRef>,
    pub mode: Mode,
    /// Folders that a new session works in besides its own.
    pub folders: Vec<String>,
    /// The session to open; a new one is made with the first prompt.
    pub session: Option<SessionId>,
    pub theme: Theme,
    pub vim: bool,
    /// The whole screen, instead of the terminal's scrollback.
    pub full: bool,
    pub mouse: bool,
    /// A bell and messages when the person looks elsewhere.
    pub notify: bool,
    /// The terminal is of a kind that may be able to show pictures; it is asked.
    pub pictures: bool,
    /// Keys that are bound otherwise, by action.
    pub keys: Vec<(String, Vec<String>)>,
    /// Where prompts and drafts are kept.
    pub state_dir: Option<PathBuf>,
    /// What the person should know before they begin.
    pub notes: Vec<String>,
}

/// What is left when the person leaves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    /// The session, if anything was asked in it.
    pub session: Option<SessionId>,
}

/// Why the UI can not run.
#[derive(Debug, thiserror::Error)]
pub enum TuiError {
    #[error("the terminal can not be used: {0}")]
    Terminal(#[from] io::Error),
    #[error("tui.keys: {0}")]
    Keys(String),
}

/// Runs until the person leaves, or the terminal does.
pub async fn run(
    client: Arc<dyn Client>,
    outside: Arc<dyn Outside>,
    options: Options,
) -> Result<Left, TuiError> {
    let changed = options.keys.iter().map(|(name, keys)| (name.as_str(), keys.clone()));
    let bindings = Bindings::new(changed).map_err(TuiError::Keys)?;
    let keep = Keep::new(options.state_dir.clone(), &options.cwd);
    let size = terminal::size();
    let app = App::new(Setup {
        cwd: options.cwd,
        place: options.place,
        branch: options.branch,
        agent: options.agent,
        model: options.model,
        mode: options.mode,
        folders: options.folders,
        theme: options.theme,
        vim: options.vim,
        full: options.full,
        notes: options.notes,
        bindings,
        history: keep.history(),
        draft: keep.draft(),
        size,
        now: Timestamp::now(),
    });
    let _guard = terminal::Guard;
    terminal::take(options.full, options.mouse)?;
    let screen = Screen::new(size, options.theme, options.full, options.mouse)?;
    let mut ui = Ui {
        app,
        client,
        outside,
        keep,
        screen,
        input: Some(terminal::Input::start()?),
        decoder: Decoder::default(),
        events: None,
        list: None,
        tasks: JoinSet::new(),
        notify: options.notify,
        pictures: options.pictures,
        done: false,
    };
    let result = ui.run(options.session).await;
    ui.leave().await;
    result.map(|()| ui.left())
}

/// Events that came together.
type Batch = Vec<Result<Arc<Event>, ClientError>>;

struct Ui {
    app: App,
    client: Arc<dyn Client>,
    outside: Arc<dyn Outside>,
    keep: Keep,
    screen: Screen,
    input: Option<terminal::Input>,
    decoder: Decoder,
    events: Option<BoxStream<'static, Batch>>,
    /// News of other sessions, once something works in the background.
    list: Option<SessionList>,
    /// Everything that was started and has not answered.
    tasks: JoinSet<Input>,
    notify: bool,
    pictures: bool,
    done: bool,
}

/// What happened next.
enum Next {
    Bytes(Option<Vec<u8>>),
    Settled,
    Events(Option<Batch>),
    Listed(Option<ListChange>),
    Task(Input),
    Tick,
    Resized,
    Repaint,
    Continued,
    Draw,
    Ended,
}

impl Ui {
    async fn run(&mut self, session: Option<SessionId>) -> Result<(), TuiError> {
        let mut signals = Signals::new()?;
        if let Some(session) = session {
            self.carry_out(vec![Effect::Read(
                Request::Session { session: session.clone() },
                Ticket::Open(session),
            )])
            .await;
        }
        self.carry_out(vec![Effect::LookAtBranch]).await;
        self.screen.dirty(true);
        self.screen.extra.push_str(terminal::ask_background());
        if self.pictures {
            self.screen.extra.push_str(picture::ASK);
        }
        let mut tick = None;
        while !self.done && !self.screen.output.is_gone() {
            self.tell_panics();
            self.screen.draw(&mut self.app);
            let wakes = self.app.wakes_in().map(|millis| Instant::now() + Duration::from_millis(millis));
            // A second that has begun is not begun again by every key.
            tick = match (tick, wakes) {
                (Some(due), Some(wakes)) => Some(wakes.min(due)),
                (_, wakes) => wakes,
            };
            match self.next(&mut signals, tick).await {
                Next::Bytes(None) | Next::Ended => self.done = true,
                Next::Bytes(Some(bytes)) => {
                    let signals = self.decoder.feed(&bytes);
                    self.signals(signals).await;
                }
                Next::Settled => {
                    let signals = self.decoder.settle();
                    self.signals(signals).await;
                }
                Next::Events(events) => self.took(events).await,
                Next::Listed(Some(change)) => self.update(Input::Listed(change)).await,
                Next::Listed(None) => self.list = None,
                Next::Task(input) => self.update(input).await,
                Next::Tick => {
                    tick = None;
                    self.update(Input::Tick).await;
                }
                Next::Resized => self.screen.repaint_at = Some(Instant::now() + RESIZE),
                // Whoever stopped by Ctrl-Z holds it again; doing so twice would lose keys.
                Next::Continued if terminal::is_held() => self.screen.repaint(&mut self.app),
                Next::Continued => self.retake()?,
                Next::Repaint => {
                    self.screen.repaint_at = None;
                    self.app.update(Input::Resize(terminal::size()), Timestamp::now());
                    self.screen.repaint(&mut self.app);
                }
                Next::Draw => {}
            }
        }
        Ok(())
    }

    /// What panicked elsewhere ended there; here it is only told.
    fn tell_panics(&mut self) {
        for text in terminal::told() {
            self.app.crashed(&text);
            self.screen.dirty(false);
        }
    }

    async fn next(&mut self, signals: &mut Signals, tick: Option<Instant>) -> Next {
        let input = &mut self.input;
        let events = &mut self.events;
        let list = &mut self.list;
        let waits = self.decoder.waits();
        let draw_at = self.screen.draw_at();
        let repaint_at = self.screen.repaint_at;
        tokio::select! {
            biased;
            bytes = async { match input { Some(input) => input.next().await, None => std::future::pending().await } } => Next::Bytes(bytes),
            _ = signals.terminated.recv() => Next::Ended,
            _ = signals.hung_up.recv() => Next::Ended,
            _ = signals.resized.recv() => Next::Resized,
            _ = signals.continued.recv() => Next::Continued,
            () = sleep_until(repaint_at) => Next::Repaint,
            Some(task) = self.tasks.join_next(), if !self.tasks.is_empty() => match task {
                Ok(input) => Next::Task(input),
                // A task that was aborted has nothing to tell; one that panicked has told it.
                Err(_) => Next::Draw,
            },
            () = tokio::time::sleep(ESCAPE), if waits => Next::Settled,
            () = sleep_until(draw_at) => Next::Draw,
            () = self.screen.output.idle(), if self.screen.is_waiting() => Next::Draw,
            batch = async { match events { Some(events) => events.next().await, None => std::future::pending().await } } => Next::Events(batch),
            news = async { match list { Some(list) => list.next().await, None => std::future::pending().await } } => {
                Next::Listed(news.and_then(Result::ok))
            },
            () = sleep_until(tick) => Next::Tick,
        }
    }

    async fn signals(&mut self, signals: Vec<crate::keys::Signal>) {
        for signal in signals {
            self.update(Input::Signal(signal)).await;
            if self.done {
                return;
            }
        }
        // Whoever pressed a key waits to see it.
        self.screen.dirty(true);
    }

    async fn took(&mut self, events: Option<Batch>) {
        let Some(events) = events else {
            self.events = None;
            return self.update(Input::Ended(None)).await;
        };
        for event in events {
            match event {
                Ok(event) => self.update(Input::Event(event)).await,
                Err(error) => {
                    self.events = None;
                    return self.update(Input::Ended(Some(error))).await;
                }
            }
        }
    }

    async fn update(&mut self, input: Input) {
        let effects = self.app.update(input, Timestamp::now());
        self.screen.dirty(false);
        self.carry_out(effects).await;
    }

    async fn carry_out(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            self.carry_out_one(effect).await;
        }
    }

    async fn carry_out_one(&mut self, effect: Effect) {
        let (client, outside) = (self.client.clone(), self.outside.clone());
        match effect {
            Effect::Submit(op, ticket) => {
                self.tasks
                    .spawn(async move { Input::Reply(ticket, client.submit(op).await.map(Answer::Receipt)) });
            }
            Effect::Read(request, ticket) => {
                self.tasks.spawn(async move {
                    Input::Reply(ticket, client.read(request).await.map(Answer::Reply))
                });
            }
            Effect::Follow(session, after) => match client.events(session, after).await {
                Ok(events) => self.events = Some(events.ready_chunks(BATCH).boxed()),
                Err(error) => {
                    let effects = self.app.update(Input::Ended(Some(error)), Timestamp::now());
                    drop(effects);
                }
            },
            Effect::Edit(text) => self.edit(text).await,
            Effect::Suspend => self.suspend(),
            Effect::Quit => self.done = true,
            Effect::Copy(text) => {
                let coded = base64::engine::general_purpose::STANDARD.encode(&text);
                self.screen.extra.push_str(&format!("\x1b]52;c;{coded}\x07"));
                self.tasks.spawn(async move {
                    outside.copy(&text).await;
                    Input::Reply(Ticket::Quiet, Ok(Answer::Done))
                });
            }
            Effect::Notify { title, body } => {
                if self.notify {
                    let (title, body) = (one_line(&title), one_line(&body));
                    self.screen.extra.push_str(&format!(
                        "\x07\x1b]9;{title}: {body}\x07\x1b]777;notify;{title};{body}\x07"
                    ));
                    self.tasks.spawn(async move {
                        outside.notify(&title, &body).await;
                        Input::Reply(Ticket::Quiet, Ok(Answer::Done))
                    });
                }
            }
            Effect::Image(path) => {
                self.tasks.spawn(async move {
                    let image = outside.image(&path).await.map(Answer::Image).map_err(invalid);
                    Input::Reply(Ticket::Image, image)
                });
            }
            Effect::ClipboardImage => {
                self.tasks.spawn(async move {
                    let image = outside.clipboard_image().await.map(Answer::Image).map_err(invalid);
                    Input::Reply(Ticket::Image, image)
                });
            }
            Effect::Report(report, name) => {
                let session = self.app.session().cloned();
                self.tasks.spawn(async move {
                    let text = outside.report(report, session.as_ref()).await.map(Answer::Text);
                    Input::Reply(Ticket::Report(name), text)
                });
            }
            Effect::Write(path, text) => {
                self.tasks.spawn(async move {
                    let written = outside.write(&path, &text).await.map(Answer::Text).map_err(invalid);
                    Input::Reply(Ticket::Written, written)
                });
            }
            Effect::KeepSetting(key, value) => {
                self.tasks.spawn(async move {
                    let kept =
                        outside.keep_setting(key, &value).await.map(|()| Answer::Done).map_err(invalid);
                    Input::Reply(Ticket::Quiet, kept)
                });
            }
            // A disk that is full costs the history, not the conversation.
            Effect::KeepDraft(draft) => drop(self.keep.keep_draft(&draft)),
            Effect::KeepPrompt(text) => drop(self.keep.add_prompt(&text)),
            Effect::Watch => {
                // Without it the job is done all the same; only nobody is told.
                if let Ok(list) = client.sessions().await {
                    self.list = Some(list);
                }
            }
            Effect::LookAtBranch => {
                self.tasks.spawn(async move { Input::Branch(outside.branch().await) });
            }
            Effect::Theme(theme) => {
                self.screen.set_theme(theme);
                self.screen.repaint(&mut self.app);
            }
            Effect::Screen(full) => self.screen.switch(full, &mut self.app),
            Effect::Repaint => self.screen.repaint(&mut self.app),
            Effect::Send(bytes) => self.screen.extra.push_str(&bytes),
        }
    }

    async fn edit(&mut self, text: String) {
        self.give_back().await;
        let outside = self.outside.clone();
        let edited = tokio::task::spawn_blocking(move || outside.edit(&text)).await;
        let edited = match edited {
            Ok(edited) => edited.map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        if self.retake().is_err() {
            self.done = true;
            return;
        }
        let effects = self.app.update(Input::Edited(edited), Timestamp::now());
        // Only a draft can follow from this, and it is kept a moment later.
        drop(effects);
        self.screen.repaint(&mut self.app);
    }

    /// Lets go of the terminal for a while.
    async fn give_back(&mut self) {
        self.input = None;
        let _ = tokio::time::timeout(PATIENCE, self.screen.output.idle()).await;
        self.screen.leave();
        let _ = tokio::time::timeout(PATIENCE, self.screen.output.idle()).await;
        terminal::restore();
    }

    fn suspend(&mut self) {
        self.input = None;
        // A frame that is under way would be in the place of the last one.
        self.settle();
        self.screen.leave();
        self.settle();
        terminal::restore();
        terminal::suspend();
        if self.retake().is_err() {
            self.done = true;
        }
    }

    /// Waits for the writer, which is about to be stopped with all the rest.
    fn settle(&self) {
        let until = std::time::Instant::now() + PATIENCE;
        while !self.screen.output.is_idle() && std::time::Instant::now() < until {
            std::thread::yield_now();
        }
    }

    fn retake(&mut self) -> io::Result<()> {
        terminal::restore();
        self.input = None;
        self.decoder = Decoder::default();
        terminal::take(self.screen.full, self.screen.mouse)?;
        self.input = Some(terminal::Input::start()?);
        self.app.update(Input::Resize(terminal::size()), Timestamp::now());
        self.screen.repaint(&mut self.app);
        Ok(())
    }

    /// The last frame, the terminal as it was, and no empty session.
    async fn leave(&mut self) {
        self.input = None;
        let _ = self.keep.keep_draft(&self.app.composer.draft());
        if !self.screen.output.is_gone() {
            let _ = tokio::time::timeout(PATIENCE, self.screen.output.idle()).await;
            self.screen.leave();
            let _ = tokio::time::timeout(PATIENCE, self.screen.output.idle()).await;
        }
        terminal::restore();
        self.tasks.shutdown().await;
        if self.app.is_unused()
            && let Some(session) = self.app.session().cloned()
        {
            // It would only be clutter.
            let _ = self.client.submit(Op::DeleteSession { session }).await;
        }
    }

    fn left(&self) -> Left {
        Left { session: self.app.session().filter(|_| !self.app.is_unused()).cloned() }
    }
}

fn invalid(message: String) -> ClientError {
    ClientError { kind: Failure::Invalid, message, hint: None }
}

/// Into an escape sequence goes nothing that could end it.
fn one_line(text: &str) -> String {
    let clean: String = text.chars().filter(|c| !c.is_control() && *c != ';').collect();
    crate::text::fit(&crate::text::plain_line(&clean), 120)
}

async fn sleep_until(moment: Option<Instant>) {
    match moment {
        Some(moment) => tokio::time::sleep_until(moment).await,
        None => std::future::pending().await,
    }
}

struct Signals {
    resized: SystemSignal,
    continued: SystemSignal,
    terminated: SystemSignal,
    hung_up: SystemSignal,
}

impl Signals {
    fn new() -> io::Result<Self> {
        Ok(Self {
            resized: signal(SignalKind::window_change())?,
            continued: signal(SignalKind::from_raw(rustix::process::Signal::CONT.as_raw()))?,
            terminated: signal(SignalKind::terminate())?,
            hung_up: signal(SignalKind::hangup())?,
        })
    }
}

/// What is on the terminal, and when it is drawn again.
struct Screen {
    output: terminal::Output,
    painter: Painter,
    /// The frame below, while the whole screen is used for something else.
    below: Option<Painter>,
    theme: Theme,
    full: bool,
    mouse: bool,
    dirty: bool,
    /// Drawn as soon as the terminal takes it.
    urgent: bool,
    last: Option<Instant>,
    repaint_at: Option<Instant>,
    /// Bytes that go before the next frame.
    extra: String,
}

impl Screen {
    fn new(size: crate::paint::Size, theme: Theme, full: bool, mouse: bool) -> io::Result<Self> {
        Ok(Self {
            output: terminal::Output::start()?,
            painter: Painter::new(size, theme),
            below: None,
            theme,
            full,
            mouse,
            dirty: true,
            urgent: true,
            last: None,
            repaint_at: None,
            extra: String::new(),
        })
    }

    fn dirty(&mut self, urgent: bool) {
        self.dirty = true;
        self.urgent |= urgent;
    }

    /// When the next frame is due, if the terminal is ready for one.
    fn draw_at(&self) -> Option<Instant> {
        if !self.dirty || !self.output.is_idle() {
            return None;
        }
        let now = Instant::now();
        Some(self.last.filter(|_| !self.urgent).map_or(now, |last| (last + FRAME).max(now)))
    }

    /// Something is to be drawn and the terminal is not ready.
    fn is_waiting(&self) -> bool {
        self.dirty && !self.output.is_idle()
    }

    fn draw(&mut self, app: &mut App) {
        let due = self.draw_at().is_some_and(|due| due <= Instant::now());
        // While a window is being dragged there is no use in drawing for a size that is over.
        if !due || self.repaint_at.is_some() {
            return;
        }
        let drawing = app.draw();
        let frame = self.painter.frame(drawing.frozen, drawing.live, drawing.caret);
        self.send(frame);
    }

    fn send(&mut self, frame: String) {
        let bytes = std::mem::take(&mut self.extra) + &frame;
        (self.dirty, self.urgent, self.last) = (false, false, Some(Instant::now()));
        self.output.send(bytes);
    }

    fn repaint(&mut self, app: &mut App) {
        if !self.output.is_idle() {
            // Tried again when the terminal has taken what it has.
            self.repaint_at = Some(Instant::now() + FRAME);
            return;
        }
        let size = terminal::size();
        app.update(Input::Resize(size), Timestamp::now());
        let (mut recent, drawing) = app.redraw();
        let clear = if self.full { "\x1b[H" } else { "" };
        if self.full {
            self.painter = Painter::new(size, self.theme);
        }
        recent.extend(drawing.frozen);
        let frame = self.painter.repaint(size, recent, drawing.live, drawing.caret);
        self.send(format!("{clear}{frame}"));
    }

    fn set_theme(&mut self, theme: Theme) {
        self.theme = theme;
        self.painter.set_theme(theme);
        if let Some(below) = &mut self.below {
            below.set_theme(theme);
        }
    }

    /// To the whole screen, or back to where the conversation scrolls.
    fn switch(&mut self, full: bool, app: &mut App) {
        if full == self.full {
            return self.repaint(app);
        }
        self.full = full;
        self.extra.push_str(terminal::switch(full, self.mouse));
        let size = terminal::size();
        if full {
            self.below = Some(std::mem::replace(&mut self.painter, Painter::new(size, self.theme)));
        } else {
            let below = self.below.take();
            self.painter = below.unwrap_or_else(|| Painter::new(size, self.theme));
        }
        self.repaint(app);
    }

    /// Takes the live rows away.
    fn leave(&mut self) {
        let frame = self.painter.leave();
        self.extra.push_str(&frame);
        let bytes = std::mem::take(&mut self.extra);
        if self.output.is_idle() {
            self.output.send(bytes);
        }
        self.dirty = false;
    }
}
