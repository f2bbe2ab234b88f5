//! A folder with tools on it, and a session that writes down what it is asked.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use guard::Action;
use project::{LocalHost, Roots};
use protocol::{CallId, Plan, SuggestedAction};
use serde_json::Value;
use tools::{Desk, Errand, PersonQuestion, ToolContext, ToolError, ToolOutput, ToolState, Toolbox, check};

pub(crate) struct Folder {
    folder: tempfile::TempDir,
    pub(crate) context: ToolContext,
    pub(crate) desk: Arc<Notebook>,
}

impl Folder {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let cwd = folder.path().canonicalize().unwrap();
        let host = Arc::new(LocalHost::new(Roots::new([&cwd]).unwrap()));
        let desk = Arc::new(Notebook { outputs: tempfile::tempdir().unwrap(), ..Notebook::default() });
        let state = Arc::new(ToolState::default());
        let context = ToolContext { host, cwd, call: CallId::new("t1_c1"), state, desk: desk.clone() };
        Self { folder, context, desk }
    }

    pub(crate) fn path(&self) -> &std::path::Path {
        self.folder.path()
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> &Self {
        let path = self.folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
        self
    }

    pub(crate) fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.folder.path().join(name)).unwrap()
    }

    pub(crate) fn text(&self, name: &str) -> String {
        String::from_utf8(self.bytes(name)).unwrap()
    }

    /// As the pipeline does it: the arguments are checked first.
    pub(crate) async fn call(&self, tool: &str, input: Value) -> Result<ToolOutput, ToolError> {
        let toolbox = Toolbox::builtin();
        let tool = toolbox.get(tool).unwrap();
        check(&tool.schema(), &input).map_err(ToolError::bad_input)?;
        tool.call(input, &self.context).await
    }

    pub(crate) async fn read(&self, input: Value) -> Result<String, String> {
        self.call("read", input).await.map(|output| output.text).map_err(|error| error.0)
    }

    pub(crate) fn actions(&self, tool: &str, input: Value) -> Vec<Action> {
        Toolbox::builtin().get(tool).unwrap().actions(&input, &self.context)
    }
}

/// What tools asked of their session.
pub(crate) struct Notebook {
    outputs: tempfile::TempDir,
    pub(crate) progress: Mutex<Vec<String>>,
    pub(crate) plans: Mutex<Vec<Plan>>,
    pub(crate) suggestions: Mutex<Vec<SuggestedAction>>,
    pub(crate) questions: Mutex<Vec<PersonQuestion>>,
    pub(crate) errands: Mutex<Vec<Errand>>,
    /// What the person says; nobody is there without it.
    pub(crate) answer: Mutex<Option<String>>,
}

impl Default for Notebook {
    fn default() -> Self {
        Self {
            outputs: tempfile::tempdir().unwrap(),
            progress: Mutex::default(),
            plans: Mutex::default(),
            suggestions: Mutex::default(),
            questions: Mutex::default(),
            errands: Mutex::default(),
            answer: Mutex::default(),
        }
    }
}

#[async_trait]
impl Desk for Notebook {
    fn progress(&self, _call: &CallId, text: &str) {
        self.progress.lock().unwrap().push(text.to_owned());
    }

    async fn plan(&self, plan: Plan) {
        self.plans.lock().unwrap().push(plan);
    }

    async fn suggest(&self, actions: Vec<SuggestedAction>) {
        self.suggestions.lock().unwrap().extend(actions);
    }

    async fn ask(&self, question: PersonQuestion) -> Option<String> {
        self.questions.lock().unwrap().push(question);
        self.answer.lock().unwrap().clone()
    }

    async fn delegate(&self, errand: Errand) -> Result<String, ToolError> {
        let report = format!("done: {}", errand.prompt);
        self.errands.lock().unwrap().push(errand);
        Ok(report)
    }

    fn outputs(&self) -> PathBuf {
        self.outputs.path().to_owned()
    }

    async fn skill(&self, name: &str) -> Result<String, ToolError> {
        Err(ToolError(format!("there is no skill `{name}`")))
    }

    fn memory(&self) -> Option<PathBuf> {
        Some(self.outputs.path().join("memory"))
    }
}
