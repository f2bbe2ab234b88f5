//! The pipeline that every tool call goes through: announce, check, ask, run, bound, report.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use agents::{Change, Gate, Heard, HookCall, Passed, Reporter, Wish};
use base64::Engine as _;
use futures::{FutureExt, StreamExt};
use guard::{Action, Redactor, Verdict, as_data};
use models::{ImageData, ToolResult};
use protocol::{
    CallId, Content, FileRead, FileWrite, HookEvent, Image, Mode, Notice, NoticeLevel, Source,
    ToolCallUpdate, ToolContent, ToolKind, ToolStatus, TurnId, Update,
};
use serde_json::Value;
use tools::{DISPATCHER, Misfit, Tool, ToolContext, ToolError, ToolOutput, Toolbox};

use super::extras::Extras;
use super::keep;
use super::permit;
use super::stall::StallWatch;
use crate::checkpoint::Checkpoints;

/// Calls of one answer that run at the same time.
const AT_ONCE: usize = 8;
/// No result is longer than this, whatever a tool does.
const MAX_RESULT: usize = 64 * 1024;
/// A question does not wait longer for the picture of what it is about.
const FORESEE: Duration = Duration::from_secs(3);
/// Finds deferred tools.
pub(super) const TOOL_SEARCH: &str = "tool_search";

/// What calls need to run.
pub(super) struct Pipeline {
    pub(super) tools: Toolbox,
    /// Of no call in particular; each gets its own.
    pub(super) context: ToolContext,
    pub(super) gate: Gate,
    pub(super) mode: Mode,
    pub(super) reporter: Reporter,
    pub(super) watch: StallWatch,
    pub(super) turn: TurnId,
    pub(super) checkpoints: Arc<Checkpoints>,
    pub(super) redactor: Arc<Redactor>,
    pub(super) extras: Arc<Extras>,
    pub(super) heard: Heard,
}

/// One call, as it is meant: a deferred tool is called through the dispatcher.
struct Meant<'a> {
    id: CallId,
    name: &'a str,
    /// As the model wrote them; so they are recorded and go back to it.
    told: &'a Value,
    arguments: Value,
    tool: Option<&'a Arc<dyn Tool>>,
    via: Option<&'static str>,
    /// Worked out when first needed: whether its arguments fit, and what it is about to do then.
    wants: OnceLock<Result<Vec<Action>, Misfit>>,
}

/// A call that may run.
struct Admitted<'a> {
    tool: &'a Arc<dyn Tool>,
    /// As the model gave them, or as a hook or the person changed them.
    arguments: Value,
    context: ToolContext,
    actions: Vec<Action>,
    verdict: Verdict,
    /// What hooks hear of it afterwards.
    hooked: HookCall,
    /// What hooks want the model to know.
    notes: Vec<String>,
    /// What the person had run instead.
    instead: Option<String>,
}

impl Pipeline {
    /// Runs the calls of one answer. Each gets a result, in the order of the calls.
    ///
    /// Calls that only look run side by side. One that changes something waits for those before it and is waited for by
    /// those after it, so that a look after a change sees the change.
    pub(super) async fn run(&self, calls: &[models::ToolCall]) -> Vec<ToolResult> {
        self.watch.next_step();
        let meant: Vec<Meant<'_>> = calls.iter().map(|call| self.meant(call)).collect();
        for call in &meant {
            self.announce(call).await;
        }
        let mut results = Vec::with_capacity(meant.len());
        let mut rest = meant.as_slice();
        while !rest.is_empty() {
            let looking = rest.iter().take_while(|call| self.only_looks(call)).count();
            let (now, later) = rest.split_at(looking.max(1));
            let runs: Vec<_> = now.iter().map(|call| self.one(call)).collect();
            results.extend(futures::stream::iter(runs).buffered(AT_ONCE).collect::<Vec<_>>().await);
            rest = later;
        }
        results
    }

    fn meant<'a>(&'a self, call: &'a models::ToolCall) -> Meant<'a> {
        let id = CallId::new(&call.id);
        let (name, told, via) = match dispatched(&call.name, &call.arguments) {
            Some((name, arguments)) => (name, arguments, Some(DISPATCHER)),
            None => (call.name.as_str(), &call.arguments, None),
        };
        let (tool, mut arguments) = (self.tools.get(name), told.clone());
        if let Some(tool) = tool.filter(|_| tools::is_untidy(told)) {
            tools::tidy(&tool.schema(), &mut arguments);
        }
        Meant { id, name, told, arguments, tool, via, wants: OnceLock::new() }
    }

    /// Whether the call leaves everything as it was. One that will fail anyway does.
    fn only_looks(&self, call: &Meant<'_>) -> bool {
        let Some(tool) = call.tool else { return true };
        match self.wants(call, tool) {
            Ok(actions) => {
                let runs = |action: &Action| matches!(action, Action::Shell { .. } | Action::Program { .. });
                // A command of which the guard knows that it only looks, as `ls`, is like any other look.
                actions.iter().all(Action::only_looks)
                    || actions.iter().all(|action| runs(action) || action.only_looks())
                        && !keep::changes_something(actions, &self.gate.foresee(tool.name(), actions))
            }
            Err(_) => true,
        }
    }

    /// What a call is about to do, if its arguments fit. Asked for when nothing before it is left that changes anything,
    /// so that it holds until the call runs.
    fn wants<'a>(&self, call: &'a Meant<'_>, tool: &Arc<dyn Tool>) -> &'a Result<Vec<Action>, Misfit> {
        call.wants.get_or_init(|| {
            tools::check(&tool.schema(), &call.arguments)?;
            Ok(tool.actions(&call.arguments, &self.context))
        })
    }

    async fn announce(&self, call: &Meant<'_>) {
        let fits = call.tool.filter(|_| call.arguments.is_object());
        self.reporter
            .send(Update::ToolCall(protocol::ToolCall {
                call: call.id.clone(),
                name: call.name.to_owned(),
                title: fits.map_or_else(|| call.name.to_owned(), |tool| tool.title(&call.arguments)),
                kind: call.tool.map_or(ToolKind::Other, |tool| tool.kind()),
                status: ToolStatus::InProgress,
                input: call.told.clone(),
                via: call.via.map(str::to_owned),
                locations: fits.map(|tool| tool.locations(&call.arguments)).unwrap_or_default(),
            }))
            .await;
    }

    async fn one(&self, call: &Meant<'_>) -> ToolResult {
        let started = Instant::now();
        let (outcome, hooked) = self.attempt(call).await;
        let duration_ms = Some(u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX));
        let (status, output) = match outcome {
            Ok(output) => (ToolStatus::Completed, output),
            Err(ToolError(text)) => (ToolStatus::Failed, ToolOutput::new(text, "failed")),
        };
        for read in &output.read {
            let read = FileRead { call: Some(call.id.clone()), ..read.clone() };
            self.reporter.send(Update::FileRead(read)).await;
        }
        if !output.wrote.is_empty() {
            self.context.state.edited();
        }
        for wrote in &output.wrote {
            let wrote = FileWrite { call: Some(call.id.clone()), ..wrote.clone() };
            self.reporter.send(Update::FileWrite(wrote)).await;
        }
        let mut text = bound(if output.is_foreign { as_data(call.name, &output.text) } else { output.text });
        for path in
            output.read.iter().map(|read| &read.path).chain(output.wrote.iter().map(|wrote| &wrote.path))
        {
            let path = self.context.path(path);
            let below = path.strip_prefix(self.context.host.roots().main()).unwrap_or(&path);
            for rule in self.extras.rules_for(below) {
                text.push_str(&format!(
                    "\n[rules for {}, from {}]\n{}\n",
                    rule.paths.join(", "),
                    rule.source.display(),
                    rule.text.trim()
                ));
            }
        }
        let failed = status == ToolStatus::Failed;
        if let Some(hooked) = hooked {
            for word in self.heard.done(hooked, failed, &text).await {
                text.push_str(&format!("\n[a hook says: {word}]\n"));
            }
        }
        let notes = [
            self.watch.changes(&output.shown),
            self.watch.outcome(call.name, &call.arguments, &text, failed),
        ];
        for note in notes.into_iter().flatten() {
            text.push_str(&format!("\n{note}"));
        }
        let text = self.redactor.redact(&text).into_owned();
        let images: Vec<ImageData> = output
            .images
            .into_iter()
            .map(|picture| ImageData {
                media_type: picture.media_type,
                data: base64::engine::general_purpose::STANDARD.encode(picture.bytes).into(),
            })
            .collect();
        let mut content = vec![ToolContent::text(text.clone())];
        content.extend(images.iter().map(|image| ToolContent::Content {
            content: Content::Image(Image {
                media_type: image.media_type.clone(),
                name: None,
                source: Source::Data(image.data.to_string()),
            }),
        }));
        content.extend(output.shown);
        let update = ToolCallUpdate {
            status: Some(status),
            summary: Some(output.summary),
            content: Some(content),
            duration_ms,
            ..ToolCallUpdate::of(call.id.clone())
        };
        self.reporter.send(Update::ToolCallUpdate(update)).await;
        ToolResult { call: call.id.as_str().to_owned(), text, images, is_error: failed }
    }

    /// What came of a call, and what hooks hear of it afterwards; nothing of one that never ran.
    async fn attempt(&self, call: &Meant<'_>) -> (Result<ToolOutput, ToolError>, Option<HookCall>) {
        match self.admit(call).await {
            Ok(admitted) => {
                let mut outcome = self.carry_out(call, &admitted).await;
                if let Some(text) = &admitted.instead {
                    let told = format!("[the person changed this before it ran, to: {text}]\n");
                    match &mut outcome {
                        Ok(output) => output.text.insert_str(0, &told),
                        Err(ToolError(error)) => error.insert_str(0, &told),
                    }
                }
                (outcome, Some(admitted.hooked))
            }
            Err(error) => (Err(error), None),
        }
    }

    /// Checks a call, asks hooks, and passes it through the gate.
    async fn admit<'a>(&self, call: &'a Meant<'_>) -> Result<Admitted<'a>, ToolError> {
        let tool = call.tool.ok_or_else(|| self.no_such(call))?;
        if let Value::String(text) = &call.arguments {
            let error = serde_json::from_str::<Value>(text).err();
            let why = error.map_or_else(|| "not an object".to_owned(), |error| error.to_string());
            return Err(ToolError(format!(
                "the arguments are not JSON ({why}); send them again as one object"
            )));
        }
        let mut wanted = self.wants(call, tool).clone().map_err(ToolError::bad_input)?;
        let mut arguments = call.arguments.clone();
        let context = ToolContext { call: call.id.clone(), ..self.context.clone() };
        let mut instead = None;
        // Once as the model wants it, and again for each change of the person's: nothing runs that did not pass.
        loop {
            let mut actions = std::mem::take(&mut wanted);
            let mut hooked = self.heard.call(HookEvent::PreTool, tool.name(), &arguments, &actions);
            let hook = self.heard.tell(hooked.clone()).await;
            let mut written = instead.is_some();
            if let Some(changed) = hook.input {
                tools::check(&tool.schema(), &changed).map_err(|error| {
                    ToolError(format!(
                        "a hook changed the input to something the tool does not take: {error}"
                    ))
                })?;
                arguments = changed;
                actions = tool.actions(&arguments, &context);
                hooked = self.heard.call(HookEvent::PreTool, tool.name(), &arguments, &actions);
                written = false;
            }
            let title = tool.title(&arguments);
            let wish = Wish { tool: tool.name(), call: Some(&call.id), title: &title, actions: &actions };
            if tool.kind() == ToolKind::Edit && self.gate.would_ask(&wish) {
                self.foresee(tool, &arguments, &context).await;
            }
            let change = match tool.editable() {
                Some(_) if written => Change::Made,
                Some(_) => Change::Offered,
                None => Change::Never,
            };
            let passed = self.gate.pass_changed(wish, hook.says.as_ref(), change).await;
            match (passed.map_err(permit::refused)?, tool.editable()) {
                (Passed::As(verdict), _) => {
                    let grants = permit::room(&verdict, &actions, self.mode);
                    let context = match grants.is_empty() {
                        true => context,
                        false => ToolContext { host: context.host.granting(&grants)?, ..context },
                    };
                    let (verdict, notes) = (*verdict, hook.context);
                    return Ok(Admitted {
                        tool,
                        arguments,
                        context,
                        actions,
                        verdict,
                        hooked,
                        notes,
                        instead,
                    });
                }
                (Passed::Instead(text), Some(argument)) => {
                    arguments[argument] = Value::String(text.clone());
                    wanted = tool.actions(&arguments, &context);
                    let title = Some(tool.title(&arguments));
                    let update = ToolCallUpdate { title, ..ToolCallUpdate::of(call.id.clone()) };
                    self.reporter.send(Update::ToolCallUpdate(update)).await;
                    instead = Some(text);
                }
                (Passed::Instead(_), None) => return Err(ToolError("it can not be changed".to_owned())),
            }
        }
    }

    /// Shows what a call would change, before the person is asked whether it may.
    async fn foresee(&self, tool: &Arc<dyn Tool>, arguments: &Value, context: &ToolContext) {
        let look = AssertUnwindSafe(tool.foresee(arguments.clone(), context)).catch_unwind();
        if let Ok(Ok(shown)) = tokio::time::timeout(FORESEE, look).await
            && !shown.is_empty()
        {
            let update = ToolCallUpdate { content: Some(shown), ..ToolCallUpdate::of(context.call.clone()) };
            self.reporter.send(Update::ToolCallUpdate(update)).await;
        }
    }

    async fn carry_out(&self, call: &Meant<'_>, admitted: &Admitted<'_>) -> Result<ToolOutput, ToolError> {
        let Admitted { tool, arguments, context, actions, verdict, .. } = admitted;
        if tool.name() == TOOL_SEARCH {
            return Ok(self.search(arguments));
        }
        let _alone = match keep::changes_something(actions, verdict) {
            true => Some(self.checkpoints.turnstile().await),
            false => None,
        };
        let pending = keep::before(&self.checkpoints, &self.turn, &call.id, actions, verdict).await?;
        let mut outcome = self.call(call, tool, arguments, context).await;
        if let Ok(output) = &mut outcome {
            let written: Vec<_> = output.wrote.iter().map(|wrote| self.context.path(&wrote.path)).collect();
            let errors = tools::errors_after_edit(&context.state, context.host.as_ref(), &written).await;
            if !errors.is_empty() {
                output.text.push_str(&format!(
                    "\nnew errors there, says the language server:\n{}\n",
                    errors.join("\n")
                ));
            }
            // What a hook makes of the files belongs to the call that wrote them, and is taken back with it.
            let told = self.edited(admitted, output).await;
            for note in admitted.notes.iter().chain(&told) {
                output.text.push_str(&format!("\n[a hook says: {note}]\n"));
            }
        }
        if let Some(pending) = pending {
            match keep::after(&self.checkpoints, &call.id, pending).await {
                Ok(Some(taken)) => self.reporter.send(Update::Checkpoint(taken)).await,
                Ok(None) => {}
                Err(error) => {
                    let text = format!("what `{}` changed can not be undone: {error}", call.name);
                    self.reporter.send(Update::Notice(Notice { level: NoticeLevel::Warning, text })).await;
                }
            }
        }
        outcome
    }

    async fn edited(&self, admitted: &Admitted<'_>, output: &ToolOutput) -> Vec<String> {
        if output.wrote.is_empty() {
            return vec![];
        }
        let paths = output.wrote.iter().map(|wrote| wrote.path.clone().into()).collect();
        let edit = HookCall { on: HookEvent::Edit, paths, ..admitted.hooked.clone() };
        self.heard.tell(edit).await.context
    }

    async fn call(
        &self,
        call: &Meant<'_>,
        tool: &Arc<dyn Tool>,
        arguments: &Value,
        context: &ToolContext,
    ) -> Result<ToolOutput, ToolError> {
        // A panic in a tool ends that call alone.
        let run = AssertUnwindSafe(tool.call(arguments.clone(), context)).catch_unwind();
        let limit = tool.time_limit(arguments);
        match tokio::time::timeout(limit, run).await {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(_)) => Err(ToolError(format!("`{}` crashed; this is a bug in Covey", call.name))),
            Err(_) => Err(ToolError(format!("took longer than {} s and was stopped", limit.as_secs()))),
        }
    }

    /// `tool_search` looks through the box that it lies in, so it is answered here.
    fn search(&self, arguments: &Value) -> ToolOutput {
        let query = arguments.get("query").and_then(Value::as_str).unwrap_or_default();
        let found = self.tools.find(query, 5);
        ToolOutput::new(tools::describe_found(&found), format!("{} tools", found.len()))
    }

    fn no_such(&self, call: &Meant<'_>) -> ToolError {
        let known: Vec<&str> = self.tools.core().map(|tool| tool.name()).collect();
        let deferred = self.tools.deferred().count();
        let more = match deferred {
            0 => String::new(),
            count => format!(", and {count} more that `tool_search` finds"),
        };
        ToolError(format!("there is no tool `{}`; there are: {}{more}", call.name, known.join(", ")))
    }
}

/// The tool that is meant by a call of the dispatcher, with its arguments.
fn dispatched<'a>(name: &str, arguments: &'a Value) -> Option<(&'a str, &'a Value)> {
    (name == DISPATCHER).then_some(())?;
    Some((arguments.get("name")?.as_str()?, arguments.get("arguments")?))
}

/// A call of the dispatcher as the log can give it back: the tool and its arguments, nothing else. Some models send the
/// inner arguments as a string of JSON, or none at all.
pub(super) fn tidy(call: &mut models::ToolCall) {
    let name = call.arguments.get("name").and_then(Value::as_str).map(str::to_owned);
    let Some(name) = name.filter(|_| call.name == DISPATCHER) else { return };
    let arguments = match call.arguments.get("arguments") {
        None | Some(Value::Null) => Value::Object(Default::default()),
        Some(Value::String(text)) => match serde_json::from_str(text) {
            Ok(parsed @ Value::Object(_)) => parsed,
            _ => Value::String(text.clone()),
        },
        Some(other) => other.clone(),
    };
    call.arguments = dispatch(name, arguments);
}

pub(super) fn dispatch(name: String, arguments: Value) -> Value {
    serde_json::json!({"name": name, "arguments": arguments})
}

/// Keeps the head and the tail of a text that is too long, cut at characters.
fn bound(text: String) -> String {
    if text.len() <= MAX_RESULT {
        return text;
    }
    let head = text.floor_char_boundary(MAX_RESULT * 3 / 4);
    let tail = text.ceil_char_boundary(text.len() - MAX_RESULT / 4);
    let left_out = tail - head;
    format!("{}\n… {left_out} bytes are left out here …\n{}", &text[..head], &text[tail..])
}
