//! Who answers in a session: the built-in agent with what it is given, or one of another maker.

use std::path::Path;
use std::sync::Arc;

use agents::{Agent, NotThere, Unavailable};
use models::{Purpose, ResolveError};
use project::Project;
use protocol::{AgentId, AgentSummary, ErrorInfo, ModelRef, ModelSummary, Receipt, SessionId};
use sessions::Opened;
use tools::Toolbox;

use super::{Engine, opening};
use crate::checkpoint::KeptTurns;
use crate::native::FindModel;
use crate::session::SessionOp;
use crate::{EngineError, Extras, NativeAgent};

impl Engine {
    /// Every model that is known by name, and whether it could be called now.
    pub(super) fn models(&self) -> Vec<ModelSummary> {
        let catalogue = &self.inner.options.catalogue;
        let known = catalogue
            .providers()
            .into_iter()
            .filter_map(|provider| catalogue.models(&provider).ok())
            .flatten();
        let summary = |model: ModelRef| match catalogue.resolve(model.as_str()) {
            Ok(found) => ModelSummary { model, context: found.info().context, usable: true, reason: None },
            Err(error) => {
                ModelSummary { model, context: None, usable: false, reason: Some(error.to_string()) }
            }
        };
        known.map(summary).collect()
    }

    /// The agent that a session had. Without it the session still opens, and prompts say what is missing.
    pub(super) fn agent_of(&self, opened: &Opened) -> Arc<dyn Agent> {
        let view = &opened.view;
        let model = view.model.clone().or_else(|| self.model_of(&view.agent));
        self.agent(&view.agent, model.as_ref(), Path::new(&view.cwd), &view.folders).unwrap_or_else(|error| {
            let error = ErrorInfo { message: error.to_string(), hint: error.hint() };
            Arc::new(Unavailable { id: view.agent.clone(), error })
        })
    }

    pub(super) fn agent(
        &self,
        id: &AgentId,
        model: Option<&ModelRef>,
        cwd: &Path,
        folders: &[String],
    ) -> Result<Arc<dyn Agent>, EngineError> {
        if id.as_str() != NativeAgent::ID {
            return self.foreign(id, model, cwd, folders);
        }
        let Some(model) = model else {
            let message = "no model is chosen".to_owned();
            let hint = Some("name one: covey run --model PROVIDER/MODEL".to_owned());
            return Err(EngineError::NoModel { message, hint });
        };
        let name = model.as_str();
        let model = self.inner.options.catalogue.resolve(name).map_err(|error| {
            let (message, hint) = (error.to_string(), Some(error.hint()));
            match error {
                ResolveError::MissingKey { .. } => EngineError::NoModel { message, hint },
                // The name or the settings are wrong, and stay wrong with every key there is.
                _ => EngineError::Refused { message, hint },
            }
        })?;
        let root =
            Project::discover(cwd).map_or_else(|_| cwd.to_owned(), |project| project.root().to_owned());
        let extras = Extras::read(self.inner.options.home.as_ref(), &root, cwd);
        let permissions = &self.inner.options.permissions;
        let servers = self.servers(cwd);
        let tools = Toolbox::builtin()
            .with(servers.tools())
            .filtered(|tool| permissions.offers(tool.name(), tool.group().as_str()));
        let mut agent = NativeAgent::new(model, tools, cwd.to_owned(), folders, Arc::new(extras));
        if let Some(index) = self.index(&root) {
            agent = agent.searching(&index);
        }
        // Chains for one purpose, where there are some that can be had.
        let chain_for = |purpose: Purpose| {
            let chosen = self.inner.options.catalogue.resolve_for(purpose, name).ok();
            chosen.filter(|chosen| chosen.name != name).map(|chosen| chosen.model)
        };
        // A model for easy things that can not be had is no reason not to answer.
        let simple = self.inner.options.simple_prompts.as_ref();
        let simple = simple.and_then(|name| self.inner.options.catalogue.resolve(name.as_str()).ok());
        Ok(Arc::new(
            agent
                .on_the_web(self.inner.options.web.clone())
                .sharing(&self.inner.shared)
                .thinking(self.inner.options.reasoning)
                .with_simple(simple)
                .within(self.inner.options.context)
                .masking(self.inner.options.redactor.clone())
                .noting(servers.notes())
                .finding(self.find_model())
                .summarised_by(chain_for(Purpose::Summary))
                .planned_and_named_by(chain_for(Purpose::Plan), chain_for(Purpose::Title)),
        ))
    }

    /// An agent of another maker.
    fn foreign(
        &self,
        id: &AgentId,
        model: Option<&ModelRef>,
        cwd: &Path,
        folders: &[String],
    ) -> Result<Arc<dyn Agent>, EngineError> {
        let unknown = || EngineError::NoAgent { message: format!("there is no agent `{id}`"), hint: None };
        let fleet = self.inner.options.fleet.as_ref().ok_or_else(unknown)?;
        let roots = opening::roots(cwd, folders)?.iter().map(Path::to_owned).collect();
        let agent = fleet.agent(id, model, cwd, roots).map_err(|error| {
            let (message, hint) = (error.to_string(), Some(error.hint()));
            match error {
                NotThere::Unknown { .. } => EngineError::NoAgent { message, hint },
                NotThere::NotInstalled { .. } | NotThere::NoKey { .. } => {
                    EngineError::NoModel { message, hint }
                }
            }
        })?;
        Ok(Arc::new(KeptTurns::of(agent)))
    }

    pub(super) fn agents(&self) -> Vec<AgentSummary> {
        let native = AgentSummary { agent: AgentId::new(NativeAgent::ID), usable: true, reason: None };
        let fleet = self.inner.options.fleet.as_ref();
        let others = fleet.into_iter().flat_map(|fleet| fleet.summaries());
        std::iter::once(native).chain(others).collect()
    }

    fn find_model(&self) -> FindModel {
        let catalogue = self.inner.options.catalogue.clone();
        Arc::new(move |name: &str| catalogue.resolve(name).map_err(|error| error.to_string()))
    }

    pub(super) async fn set_model(
        &self,
        session: SessionId,
        model: ModelRef,
    ) -> Result<Receipt, EngineError> {
        let handle = self.handle(&session).await?;
        let Some(view) = handle.view().await else { return Err(EngineError::Closed(session)) };
        let agent = self.agent(&view.agent, Some(&model), Path::new(&view.cwd), &view.folders)?;
        let receipt = self.ask(session, SessionOp::SetModel { model }).await?;
        handle.use_agent(agent).await;
        Ok(receipt)
    }

    pub(super) async fn set_agent(
        &self,
        session: SessionId,
        id: AgentId,
        model: Option<ModelRef>,
    ) -> Result<Receipt, EngineError> {
        let handle = self.handle(&session).await?;
        let Some(view) = handle.view().await else { return Err(EngineError::Closed(session)) };
        let model = model.or_else(|| self.model_of(&id));
        let agent = self.agent(&id, model.as_ref(), Path::new(&view.cwd), &view.folders)?;
        let receipt = self.ask(session, SessionOp::SetAgent { agent: id, model }).await?;
        handle.use_agent(agent).await;
        Ok(receipt)
    }

    /// The model of sessions that do not say. Other agents choose their own.
    pub(super) fn model_of(&self, agent: &AgentId) -> Option<ModelRef> {
        self.preferred().model.filter(|_| agent.as_str() == NativeAgent::ID)
    }
}
