//! The state of the UI, and what each input means for it. No clock, no terminal, no waiting.
//!
//! [`App::update`] takes one [`Input`] and answers with the [`Effect`]s to carry out; `draw` says what the screen
//! shows. Both can be tested by telling a story and looking at the frame.

mod commands;
mod completion;
mod draw;
mod events;
mod jobs;
mod pickers;
mod pictures;
mod replies;
mod typing;

use std::collections::{HashMap, HashSet, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;

use client::ClientError;
use protocol::{
    AgentId, CallId, CommandSummary, Content, Effort, Event, Image, ListChange, Mode, ModelRef, Op, Receipt,
    Reply, Request, SessionId, SessionStatus, SessionView, Timestamp,
};

use crate::bindings::Bindings;
use crate::composer::{Composer, Draft, History};
use crate::dialog::PermissionDialog;
use crate::keys::Signal;
use crate::outside::Report;
use crate::paint::Size;
use crate::theme::Theme;
use crate::transcript::Transcript;

use completion::Popup;
use pickers::Open;

/// Everything the UI can be told.
#[derive(Debug)]
pub(crate) enum Input {
    Signal(Signal),
    Resize(Size),
    Event(Arc<Event>),
    /// The session's events ended.
    Ended(Option<ClientError>),
    /// Time passed.
    Tick,
    Reply(Ticket, Result<Answer, ClientError>),
    /// The editor is closed again.
    Edited(Result<String, String>),
    Branch(Option<String>),
    /// News of the list of sessions.
    Listed(ListChange),
}

/// What an effect brought.
#[derive(Debug)]
pub(crate) enum Answer {
    Receipt(Receipt),
    Reply(Reply),
    Text(String),
    Image(Image),
    Done,
}

/// What an answer is for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Ticket {
    /// A session was made for what waits for one.
    Created,
    /// Another session's view, to be shown.
    Open(SessionId),
    /// A prompt was sent; its text comes back if that fails.
    Prompt(String),
    Mentions(String),
    /// Folders that begin with this.
    Folders(String),
    Commands,
    Sessions,
    Preview(SessionId),
    /// Sessions that have these words somewhere.
    Hits(String),
    Models,
    Agents,
    Tools,
    /// A copy that ends before a prompt, whose text goes into the composer.
    Rewound {
        text: String,
    },
    Forked,
    Changes,
    UndoPreview {
        what: Option<String>,
        redo: bool,
    },
    Export(PathBuf),
    Written,
    Report(&'static str),
    Image,
    /// A copy of the session that works in the background on a prompt.
    Background {
        text: String,
        content: Vec<Content>,
    },
    /// A picture of the conversation, of this name.
    Picture(String),
    /// Said when it is done.
    Say(String),
    Quiet,
}

/// What is to be done.
#[derive(Debug, PartialEq)]
pub(crate) enum Effect {
    Submit(Op, Ticket),
    Read(Request, Ticket),
    /// Events of this session after that number, instead of those before.
    Follow(SessionId, u64),
    /// Hand the terminal to the person's editor.
    Edit(String),
    Suspend,
    Quit,
    Copy(String),
    Notify {
        title: String,
        body: String,
    },
    Image(PathBuf),
    ClipboardImage,
    Report(Report, &'static str),
    Write(PathBuf, String),
    KeepSetting(&'static str, String),
    KeepDraft(Draft),
    KeepPrompt(String),
    LookAtBranch,
    /// Tell what becomes of other sessions.
    Watch,
    /// The colours changed.
    Theme(Theme),
    /// To the whole screen, or back.
    Screen(bool),
    Repaint,
    /// Bytes for the terminal that change nothing on the screen.
    Send(String),
}

/// Asks for something once there is a session.
type Deferred = Box<dyn FnOnce(&SessionId) -> Effect + Send>;

/// What the program around us decided before we began.
pub(crate) struct Setup {
    pub(crate) cwd: String,
    /// How the folder is shown.
    pub(crate) place: String,
    pub(crate) branch: Option<String>,
    pub(crate) agent: AgentId,
    pub(crate) model: Option<ModelRef>,
    pub(crate) mode: Mode,
    pub(crate) folders: Vec<String>,
    pub(crate) theme: Theme,
    pub(crate) vim: bool,
    pub(crate) full: bool,
    pub(crate) notes: Vec<String>,
    pub(crate) bindings: Bindings,
    pub(crate) history: Vec<String>,
    pub(crate) draft: Option<Draft>,
    pub(crate) size: Size,
    pub(crate) now: Timestamp,
}

pub(crate) struct App {
    pub(crate) cwd: String,
    place: String,
    branch: Option<String>,
    /// For the session that is not there yet.
    agent: AgentId,
    model: Option<ModelRef>,
    mode: Mode,
    folders: Vec<String>,
    view: Option<SessionView>,
    /// A session is being made, or opened.
    opening: bool,
    deferred: Vec<Deferred>,
    transcript: Transcript,
    pub(crate) composer: Composer,
    history: History,
    bindings: Arc<Bindings>,
    theme: Theme,
    background: Option<(u8, u8, u8)>,
    dialog: Option<PermissionDialog>,
    popup: Option<Popup>,
    open: Option<Open>,
    /// Prompts that wait for the turn to end.
    queue: VecDeque<(String, Vec<Content>)>,
    commands: Vec<CommandSummary>,
    commands_asked: bool,
    waiting: HashSet<CallId>,
    /// The arguments of calls that wait, so that a command can be changed before it runs.
    inputs: HashMap<CallId, serde_json::Value>,
    size: Size,
    now: Timestamp,
    /// A word to the person, and until when.
    flash: Option<(String, Timestamp)>,
    last_key: Timestamp,
    last_stop: Option<Timestamp>,
    last_cancel: Option<Timestamp>,
    focused: bool,
    full: bool,
    unfolded: bool,
    plan_shown: bool,
    /// Rows that the reader of the full screen is above the end.
    scrolled: usize,
    prompts_sent: u64,
    draft_due: bool,
    /// Characters said lately, for the speed: since when, how many.
    pace: Option<(Timestamp, u64)>,
    speed: Option<u64>,
    quitting: bool,
    /// Whether the terminal can show pictures, and how many it was sent.
    pictures: Option<u8>,
    /// Sessions that work in the background.
    jobs: Vec<Job>,
}

/// A session that works in the background.
struct Job {
    session: SessionId,
    text: String,
    status: SessionStatus,
}

impl App {
    pub(crate) fn new(setup: Setup) -> Self {
        let mut composer = Composer::default();
        if setup.vim {
            composer.vim = Some(Default::default());
        }
        if let Some(draft) = setup.draft {
            composer.restore(draft);
        }
        let mut app = Self {
            cwd: setup.cwd,
            place: setup.place,
            branch: setup.branch,
            agent: setup.agent,
            model: setup.model,
            mode: setup.mode,
            folders: setup.folders,
            view: None,
            opening: false,
            deferred: vec![],
            transcript: Transcript::default(),
            composer,
            history: History::new(setup.history),
            bindings: Arc::new(setup.bindings),
            theme: setup.theme,
            background: None,
            dialog: None,
            popup: None,
            open: None,
            queue: VecDeque::new(),
            commands: vec![],
            commands_asked: false,
            waiting: HashSet::new(),
            inputs: HashMap::new(),
            size: setup.size,
            now: setup.now,
            flash: None,
            last_key: Timestamp::default(),
            last_stop: None,
            last_cancel: None,
            focused: true,
            full: setup.full,
            unfolded: false,
            plan_shown: true,
            scrolled: 0,
            prompts_sent: 0,
            draft_due: false,
            pace: None,
            speed: None,
            quitting: false,
            pictures: None,
            jobs: vec![],
        };
        app.welcome();
        for note in setup.notes {
            app.transcript.note(crate::transcript::Note::warning(note));
        }
        app
    }

    /// What one input means.
    pub(crate) fn update(&mut self, input: Input, now: Timestamp) -> Vec<Effect> {
        self.now = now;
        let mut effects = Vec::new();
        match input {
            Input::Signal(signal) => self.signal(signal, &mut effects),
            Input::Resize(size) => self.size = size,
            Input::Event(event) => self.event(&event, &mut effects),
            Input::Ended(error) => self.ended(error),
            Input::Tick => self.tick(&mut effects),
            Input::Reply(ticket, result) => self.reply(ticket, result, &mut effects),
            Input::Edited(Ok(text)) => {
                self.composer.set(text.trim_end_matches('\n'));
                self.draft_due = true;
            }
            Input::Edited(Err(error)) => self.say(format!("the editor failed: {error}")),
            Input::Branch(branch) => self.branch = branch,
            Input::Listed(change) => self.listed(change, &mut effects),
        }
        if std::mem::take(&mut self.composer.touched) {
            self.draft_due = true;
            self.refresh_popup(&mut effects);
        }
        effects
    }

    /// When something changes by itself, in milliseconds: never, when nothing is going on.
    pub(crate) fn wakes_in(&self) -> Option<u64> {
        let flash = self.flash.as_ref().map(|(_, until)| until.millis_since(self.now).max(1));
        let second = self.is_busy().then_some(1_000);
        let draft = self.draft_due.then_some(400);
        [flash, second, draft].into_iter().flatten().min()
    }

    fn tick(&mut self, effects: &mut Vec<Effect>) {
        if self.flash.as_ref().is_some_and(|(_, until)| *until <= self.now) {
            self.flash = None;
        }
        if std::mem::take(&mut self.draft_due) {
            effects.push(Effect::KeepDraft(self.composer.draft()));
        }
        if let Some((since, characters)) = self.pace {
            let seconds = self.now.millis_since(since) as f64 / 1_000.0;
            // About four characters are a token.
            self.speed = (seconds > 0.5)
                .then(|| (characters as f64 / 4.0 / seconds) as u64)
                .filter(|speed| *speed > 0);
            self.pace = Some((self.now, 0));
        }
    }

    pub(crate) fn session(&self) -> Option<&SessionId> {
        self.view.as_ref().map(|view| &view.session)
    }

    pub(crate) fn theme(&self) -> Theme {
        match self.background {
            Some((red, green, blue)) => self.theme.on_background(red, green, blue),
            None => self.theme,
        }
    }

    /// What the person leaves behind: nothing, if nothing was asked.
    pub(crate) fn is_unused(&self) -> bool {
        self.view.as_ref().is_some_and(|view| view.turns == 0 && view.items.is_empty())
    }

    fn is_busy(&self) -> bool {
        self.view.as_ref().is_some_and(|view| !view.open.is_empty())
    }

    fn current_mode(&self) -> Mode {
        self.view.as_ref().map_or(self.mode, |view| view.mode)
    }

    fn current_effort(&self) -> Option<Effort> {
        self.view.as_ref().and_then(|view| view.effort)
    }

    fn current_model(&self) -> Option<&ModelRef> {
        self.view.as_ref().map_or(self.model.as_ref(), |view| view.model.as_ref())
    }

    fn current_agent(&self) -> &AgentId {
        self.view.as_ref().map_or(&self.agent, |view| &view.agent)
    }

    fn current_folders(&self) -> &[String] {
        self.view.as_ref().map_or(&self.folders, |view| &view.folders)
    }

    /// A word that goes away by itself.
    fn say(&mut self, text: impl Into<String>) {
        const SHOWN_MS: i64 = 4_000;
        self.flash = Some((text.into(), Timestamp::from_millis(self.now.as_millis() + SHOWN_MS)));
    }

    /// Something panicked, and was stopped where it was.
    pub(crate) fn crashed(&mut self, text: &str) {
        let hint = "this is a bug in Covey: /bug says what to tell us".to_owned();
        self.transcript.note(crate::transcript::Note::failure(text, Some(hint)));
    }

    /// Does something with the session, which is made first if there is none.
    fn with_session(
        &mut self,
        effects: &mut Vec<Effect>,
        then: impl FnOnce(&SessionId) -> Effect + Send + 'static,
    ) {
        if let Some(session) = self.session() {
            effects.push(then(session));
            return;
        }
        self.deferred.push(Box::new(then));
        if !std::mem::replace(&mut self.opening, true) {
            let create = Op::CreateSession {
                cwd: self.cwd.clone(),
                agent: Some(self.agent.clone()),
                model: self.model.clone(),
                mode: Some(self.mode),
                title: None,
                folders: self.folders.clone(),
                ephemeral: false,
            };
            effects.push(Effect::Submit(create, Ticket::Created));
        }
    }
}

#[cfg(test)]
mod tests;
