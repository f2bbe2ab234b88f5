//! The tools that come with Covey. Each is one file: name, schema, words for the model, need, and what it does.

use std::sync::Arc;

use serde_json::Value;

use crate::Tool;
use crate::language::Asks;

mod apply_patch;
mod ask_user;
mod ast_search;
mod batch;
mod browser;
mod call_tool;
mod code_action;
mod code_search;
mod copy;
mod definition;
mod delete;
mod diagnostics;
mod edit;
mod find_file;
mod git_blame;
mod git_branch;
mod git_checkout;
mod git_commit;
mod git_diff;
mod git_log;
mod git_show;
mod git_status;
mod glob;
mod grep;
mod hover;
mod instrument;
mod job_input;
mod job_kill;
mod job_list;
mod job_output;
mod list_dir;
mod load_skill;
mod memory_read;
mod memory_write;
mod mkdir;
mod move_file;
mod note;
mod plan;
mod pr_create;
mod pr_review;
mod read;
mod references;
mod related_files;
mod rename;
mod replace;
mod repo_map;
mod shell;
mod stat;
mod suggest_actions;
mod symbol;
mod symbols;
mod tail;
mod task;
mod think;
mod todo;
mod tool_search;
mod tree;
mod uninstrument;
mod verify;
mod wait;
mod web_fetch;
mod web_search;
mod write;

pub use note::notes;
pub use tool_search::describe_found;

/// Every built-in tool, in the order in which models are told of them.
pub(crate) const ALL: &[fn() -> Arc<dyn Tool>] = &[
    || Arc::new(read::Read),
    || Arc::new(write::Write),
    || Arc::new(edit::Edit),
    || Arc::new(apply_patch::ApplyPatch),
    || Arc::new(list_dir::ListDir),
    || Arc::new(glob::Glob),
    || Arc::new(grep::Grep),
    || Arc::new(code_search::CodeSearch),
    || Arc::new(tree::Tree),
    || Arc::new(stat::Stat),
    || Arc::new(mkdir::Mkdir),
    || Arc::new(copy::Copy),
    || Arc::new(move_file::Move),
    || Arc::new(delete::Delete),
    || Arc::new(replace::Replace),
    || Arc::new(batch::Batch),
    || Arc::new(find_file::FindFile),
    || Arc::new(symbol::Symbol),
    || Arc::new(related_files::RelatedFiles),
    || Arc::new(repo_map::RepoMap),
    || Arc::new(ast_search::AstSearch),
    || Arc::new(shell::Shell),
    || Arc::new(verify::Verify),
    || Arc::new(job_output::JobOutput),
    || Arc::new(job_input::JobInput),
    || Arc::new(job_kill::JobKill),
    || Arc::new(job_list::JobList),
    || Arc::new(git_status::GitStatus),
    || Arc::new(git_diff::GitDiff),
    || Arc::new(git_log::GitLog),
    || Arc::new(git_show::GitShow),
    || Arc::new(git_blame::GitBlame),
    || Arc::new(git_branch::GitBranch),
    || Arc::new(git_commit::GitCommit),
    || Arc::new(git_checkout::GitCheckout),
    || Arc::new(pr_create::PrCreate),
    || Arc::new(pr_review::PrReview),
    || Arc::new(Asks::<diagnostics::Diagnostics>::new()),
    || Arc::new(Asks::<definition::Definition>::new()),
    || Arc::new(Asks::<references::References>::new()),
    || Arc::new(Asks::<hover::Hover>::new()),
    || Arc::new(Asks::<symbols::Symbols>::new()),
    || Arc::new(Asks::<rename::Rename>::new()),
    || Arc::new(Asks::<code_action::CodeAction>::new()),
    || Arc::new(web_fetch::WebFetch),
    || Arc::new(web_search::WebSearch),
    || Arc::new(browser::BrowserTool),
    || Arc::new(todo::Todo),
    || Arc::new(ask_user::AskUser),
    || Arc::new(task::Task),
    || Arc::new(think::Think),
    || Arc::new(note::Note),
    || Arc::new(plan::Plan),
    || Arc::new(memory_read::MemoryRead),
    || Arc::new(memory_write::MemoryWrite),
    || Arc::new(load_skill::LoadSkill),
    || Arc::new(tail::Tail),
    || Arc::new(wait::Wait),
    || Arc::new(suggest_actions::SuggestActions),
    || Arc::new(instrument::Instrument),
    || Arc::new(uninstrument::Uninstrument),
    || Arc::new(tool_search::ToolSearch),
    || Arc::new(call_tool::CallTool),
];

/// The `path` argument, for titles: what the model meant, even when the rest does not fit.
fn path_argument(input: &Value) -> &str {
    input.get("path").and_then(Value::as_str).unwrap_or(".")
}

/// The `job` argument, for titles.
fn job_argument(input: &Value) -> u64 {
    input.get("job").and_then(Value::as_u64).unwrap_or_default()
}
