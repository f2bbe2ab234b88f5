//! What a model is sent for the tools.

use tools::Toolbox;

/// The tools of running, thinking and the web that every request carries, and what they may cost together in bytes.
const CORE: [&str; 8] =
    ["shell", "verify", "todo", "ask_user", "task", "tool_search", "call_tool", "web_fetch"];
const MOST: usize = 4_500;

#[test]
fn the_core_tools_that_act_are_told_of_in_few_words() {
    let toolbox = Toolbox::builtin();
    let mut total = 0;
    let mut table = String::new();
    for tool in toolbox.iter() {
        let size = tool.name().len() + tool.description().len() + tool.schema().to_string().len();
        table.push_str(&format!("{} {size} {}\n", tool.name(), if tool.is_core() { "core" } else { "" }));
        if CORE.contains(&tool.name()) {
            assert!(tool.is_core(), "{}", tool.name());
            total += size;
        }
    }
    println!("{table}");
    assert!(total <= MOST, "{total} bytes\n{table}");
}
