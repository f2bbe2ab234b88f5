//! `covey tools`: what the built-in agent can do.

use serde_json::{Value, json};
use tools::{Tool, Toolbox};

use crate::cli::ToolsArguments;
use crate::exit::{Exit, Failure};
use crate::terminal::{Stream, Style, columns, count, one_line, print};

pub(crate) fn tools(arguments: &ToolsArguments) -> Result<Exit, Failure> {
    let toolbox = Toolbox::builtin();
    if arguments.json {
        let tools: Vec<Value> = toolbox.iter().map(|tool| describe(tool.as_ref())).collect();
        print(&format!("{}\n", json!({"tools": tools})))?;
        return Ok(Exit::Done);
    }
    let style = Style::of(Stream::Out);
    let width = toolbox.iter().map(|tool| tool.name().len()).max().unwrap_or_default();
    let mut group = "";
    let mut ordered: Vec<_> = toolbox.iter().collect();
    ordered.sort_by_key(|tool| tool.group());
    for tool in ordered {
        if tool.group().as_str() != group {
            group = tool.group().as_str();
            print(&format!("{}\n", style.strong(group)))?;
        }
        let name = format!("{:width$}", tool.name());
        let sign = if tool.is_core() { style.accent("●") } else { style.faint("○") };
        let room = columns().saturating_sub(width + 16).max(20);
        let size = format!("{:>6}", count(bytes(tool.as_ref()) as u64));
        print(&format!("  {sign} {name} {} {}\n", style.faint(&size), one_line(tool.description(), room)))?;
    }
    let core: usize = toolbox.core().map(|tool| bytes(tool.as_ref())).sum();
    let (now, later) = (toolbox.core().count(), toolbox.deferred().count());
    let note =
        format!("● {now} are sent with every prompt ({core} bytes), ○ {later} are found with tool_search");
    print(&format!("{}\n", style.faint(&note)))?;
    Ok(Exit::Done)
}

fn describe(tool: &dyn Tool) -> Value {
    json!({
        "name": tool.name(),
        "group": tool.group().as_str(),
        "class": tool.kind(),
        "deferred": !tool.is_core(),
        "bytes": bytes(tool),
        "description": tool.description(),
        "schema": tool.schema(),
    })
}

/// What a model is sent of it.
fn bytes(tool: &dyn Tool) -> usize {
    tool.name().len() + tool.description().len() + tool.schema().to_string().len()
}
