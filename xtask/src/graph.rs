//! Which crate uses which. A new arrow is a line that someone sees in review.

use serde_json::Value;

use crate::run::{self, Failure};

const FILE: &str = "docs/graph.txt";

pub(crate) fn print(arguments: &[String]) -> Result<(), Failure> {
    let graph = graph()?;
    print!("{graph}");
    if arguments.iter().any(|argument| argument == "--write") {
        std::fs::write(run::root().join(FILE), graph)?;
    }
    Ok(())
}

/// A line per crate: `engine -> agents, models, …`, without what only its tests use.
fn graph() -> Result<String, Failure> {
    let metadata = run::output("cargo", &["metadata", "--format-version", "1", "--no-deps", "--offline"])?;
    let metadata: Value = serde_json::from_str(&metadata).map_err(|error| Failure::new(error.to_string()))?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let packages = metadata["packages"].as_array().cloned().unwrap_or_default();
    let mut lines: Vec<String> = packages
        .iter()
        .map(|package| {
            let dependencies = package["dependencies"].as_array().cloned().unwrap_or_default();
            let ours = dependencies.iter().filter(|d| d["path"].is_string() && d["kind"].is_null());
            let mut ours: Vec<String> = ours.map(|dependency| text(&dependency["name"])).collect();
            ours.sort();
            format!("{} -> {}", text(&package["name"]), ours.join(", ")).trim_end().to_owned() + "\n"
        })
        .collect();
    lines.sort();
    Ok(lines.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_crate_graph_is_the_recorded_one() {
        let recorded = std::fs::read_to_string(run::root().join(FILE)).unwrap_or_default();
        let graph = graph().unwrap();
        assert!(graph == recorded, "an arrow changed; if it is meant: cargo xtask graph --write\n{graph}");
    }

    /// What never depends on what, as the design says it.
    #[test]
    fn the_lower_crates_know_nothing_of_the_higher_ones() {
        let graph = graph().unwrap();
        let uses = |name: &str| {
            let line = graph.lines().find(|line| line.starts_with(&format!("{name} ->"))).unwrap_or_default();
            line.split("->")
                .nth(1)
                .unwrap_or_default()
                .split(',')
                .map(|d| d.trim().to_owned())
                .collect::<Vec<_>>()
        };
        for alone in ["protocol", "project", "net"] {
            assert_eq!(uses(alone), [""], "{alone}");
        }
        for below in ["agents", "models", "tools", "sessions"] {
            for above in ["engine", "client", "covey"] {
                assert!(!uses(below).iter().any(|used| used == above), "{below} -> {above}");
            }
        }
        assert_eq!(uses("client"), ["protocol"]);
    }
}
