//! The tools that come with Covey. Each is one file: name, schema, words for the model, need, and what it does.

use std::sync::Arc;

use project::ConfineError;
use serde_json::Value;

use crate::{Need, Tool, ToolContext};

mod list_dir;
mod read;

/// Every built-in tool, in the order in which models are told of them.
pub(crate) const ALL: &[fn() -> Arc<dyn Tool>] = &[|| Arc::new(read::Read), || Arc::new(list_dir::ListDir)];

/// Looking at something inside the project needs nobody's word; looking elsewhere does.
fn need_to_see(path: &str, context: &ToolContext) -> Need {
    match context.host.roots().resolve(path, &context.cwd) {
        Err(ConfineError::Outside { .. }) => {
            Need::Permission { reasons: vec!["outside the project".to_owned()], path: context.cwd.join(path) }
        }
        // Whatever else is wrong with the path, the call itself will say.
        Ok(_) | Err(_) => Need::Nothing,
    }
}

/// The `path` argument, for titles: what the model meant, even when the rest does not fit.
fn path_argument(input: &Value) -> &str {
    input.get("path").and_then(Value::as_str).unwrap_or(".")
}
