//! What every adapter does with the news of a turn: tells them, counts what they cost, and sees when it is enough.

use std::path::{Path, PathBuf};

use acp::News;
use protocol::{
    AgentId, CallId, Content, ContextLedger, ContextPart, ErrorInfo, FileWrite, HookEvent, Image, Limits,
    ModelRef, NoticeLevel, Source, Stop, StopCause, ToolContent, ToolKind, ToolStatus, Update, Usage,
    UsageReport,
};

use tokio::task::JoinSet;

use crate::actions::Described;
use crate::fleet::Trouble;
use crate::narrator::{Call, Narrator, notice};
use crate::{Heard, HookCall, Reporter, Turn};

/// A turn of a foreign agent, as it is told.
pub(crate) struct Telling {
    pub(crate) narrator: Narrator,
    pub(crate) reporter: Reporter,
    pub(crate) cwd: PathBuf,
    heard: Heard,
    /// Hooks that hear of what was done. The agent does not wait for them, the end of its turn does.
    hearing: JoinSet<()>,
    limits: Limits,
    spent: Usage,
    steps: u32,
    window: Option<(u64, u64)>,
}

/// How a turn ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct End {
    pub(crate) stop: Stop,
    pub(crate) cause: Option<StopCause>,
    /// The agent is as it was before, and can be used again.
    pub(crate) clean: bool,
}

impl Telling {
    pub(crate) fn new(turn: &Turn, reporter: Reporter, cwd: PathBuf) -> Self {
        Self {
            narrator: Narrator::new(turn.id.clone()),
            heard: Heard::new(turn, reporter.clone()),
            hearing: JoinSet::new(),
            reporter,
            cwd,
            limits: turn.limits.clone(),
            spent: Usage::default(),
            steps: 0,
            window: None,
        }
    }

    /// Tells one piece of news. `ours` says whether we wrote a file for the agent, which was told then.
    pub(crate) async fn news(&mut self, news: News, ours: impl Fn(&str) -> bool) {
        match news {
            News::Window { used, size, .. } => self.window = Some((used, size)),
            News::Tool(tool) => {
                let theirs = tool.call.clone();
                let ended = tool.status.is_some_and(ToolStatus::is_final);
                let updates = self.narrator.tool(tool);
                self.send(updates).await;
                if ended {
                    let written = self.files_written(&theirs);
                    self.tell_hooks(&theirs, &written);
                    let theirs = written.into_iter().filter(|write| !ours(&write.path));
                    self.send(theirs.map(Update::FileWrite).collect()).await;
                }
            }
            news => {
                let updates = self.narrator.tell(news);
                self.send(updates).await;
            }
        }
    }

    pub(crate) async fn send(&self, updates: Vec<Update>) {
        for update in updates {
            self.reporter.send(update).await;
        }
    }

    /// The files that a call says to have changed, as they are now.
    fn files_written(&self, theirs: &CallId) -> Vec<FileWrite> {
        let Some(call) = self.narrator.call(theirs) else { return vec![] };
        if call.status != ToolStatus::Completed || call.kind != ToolKind::Edit {
            return vec![];
        }
        let written = self.described(call).paths().into_iter().filter_map(|path| {
            let bytes = path.metadata().ok()?.len();
            let path = path.to_string_lossy().into_owned();
            Some(FileWrite { path, bytes, call: Some(call.ours.clone()), blob: None })
        });
        written.collect()
    }

    /// Hooks hear what a call gave, and which files it changed.
    fn tell_hooks(&mut self, theirs: &CallId, written: &[FileWrite]) {
        let Some(call) = self.narrator.call(theirs) else { return };
        let actions = self.described(call).actions();
        let done = self.heard.call(HookEvent::PostTool, call.tool(), &call.input, &actions);
        let paths = written.iter().map(|write| self.heard.below(Path::new(&write.path)));
        let edit = HookCall { on: HookEvent::Edit, paths: paths.collect(), ..done.clone() };
        let text: String = call.content.iter().filter_map(said).collect();
        let (failed, heard) = (call.status != ToolStatus::Completed, self.heard.clone());
        self.hearing.spawn(async move {
            heard.done(done, failed, &text).await;
            if !edit.paths.is_empty() {
                heard.tell(edit).await;
            }
        });
    }

    pub(crate) fn described<'a>(&'a self, call: &'a Call) -> Described<'a> {
        Described {
            kind: call.kind,
            title: &call.title,
            input: &call.input,
            locations: &call.locations,
            content: &call.content,
            cwd: &self.cwd,
        }
    }

    /// Counts a call to a model.
    pub(crate) async fn usage(&mut self, model: Option<&str>, usage: Usage) {
        self.spent += usage;
        self.steps += 1;
        let model = model.map(ModelRef::new);
        self.reporter.send(Update::Usage(UsageReport { model, usage, estimated: false })).await;
    }

    /// What stops the turn, if it has used up what it may.
    pub(crate) fn over_limit(&self) -> Option<StopCause> {
        let Limits { max_cost_usd, max_tokens, max_steps, .. } = &self.limits;
        let money = max_cost_usd.is_some_and(|most| self.spent.cost_usd.unwrap_or_default() > most);
        let tokens = max_tokens.is_some_and(|most| self.spent.total() > most);
        if money || tokens {
            return Some(StopCause::Budget);
        }
        max_steps.filter(|most| self.steps >= *most && self.steps > 0).map(|_| StopCause::MaxSteps)
    }

    /// Whether this total would be too much.
    pub(crate) fn too_expensive(&self, cost_usd: f64) -> bool {
        self.limits.max_cost_usd.is_some_and(|most| cost_usd > most)
    }

    /// A line that was too long to be read.
    pub(crate) async fn passed_over(&self, bytes: u64) {
        let text = format!("the agent sent a line of {bytes} bytes, which was passed over");
        self.reporter.send(notice(NoticeLevel::Warning, text)).await;
    }

    /// What went wrong, in the agent's words. With one of `login` among them, somebody has to log in.
    pub(crate) async fn failed(&mut self, id: &AgentId, error: &str, login: &[&str]) {
        let hint = login.iter().any(|word| error.contains(word)).then(|| format!("covey agents login {id}"));
        self.finish().await;
        let message = format!("`{id}` reports: {error}");
        self.reporter.send(Update::Error(ErrorInfo { message, hint })).await;
    }

    /// What is still owed when the turn ends.
    pub(crate) async fn finish(&mut self) {
        let updates = self.narrator.finish();
        self.send(updates).await;
        while self.hearing.join_next().await.is_some() {}
        if let Some((used, size)) = self.window.take() {
            let part = ContextPart { name: "conversation".to_owned(), source: None, tokens: used };
            let window = u32::try_from(size).ok().filter(|size| *size > 0);
            self.reporter
                .send(Update::Context(ContextLedger { window, reserve: 0, parts: vec![part] }))
                .await;
        }
    }
}

fn said(content: &ToolContent) -> Option<&str> {
    match content {
        ToolContent::Content { content: Content::Text { text } } => Some(text),
        _ => None,
    }
}

/// Ends a turn that can not go on.
pub(crate) async fn fail(reporter: &Reporter, trouble: Trouble) {
    let Trouble { message, hint, unreachable } = trouble;
    reporter.send(Update::Error(ErrorInfo { message, hint })).await;
    let cause = unreachable.then_some(StopCause::Unreachable);
    reporter.send(Update::Done { stop: Stop::Error, cause }).await;
}

/// A picture that was moved beside the log is brought back.
pub(crate) fn inlined(content: &Content, turn: &Turn) -> Content {
    use base64::Engine as _;
    if let Content::Image(image) = content
        && let Source::Blob(blob) = &image.source
        && let Some(bytes) = turn.services.blob(blob)
    {
        let data = base64::engine::general_purpose::STANDARD.encode(bytes);
        return Content::Image(Image { source: Source::Data(data), ..image.clone() });
    }
    content.clone()
}

/// A turn that another one started has a conversation of its own.
pub(crate) fn is_child(turn: &Turn) -> bool {
    turn.id.as_str().contains('.')
}
