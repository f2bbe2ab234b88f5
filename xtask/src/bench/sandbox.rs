//! What the sandbox adds to one command, for each backend that this machine has.

use std::process::Command;

use serde_json::Value;

use super::measures::Group;
use super::report::Line;
use super::stage::Stage;
use crate::run::Failure;

pub(super) const GROUP: Group = Group {
    about: "one command in the sandbox",
    measures: &["sandbox_namespaces_cpu_ms", "sandbox_bubblewrap_cpu_ms", "sandbox_landlock_cpu_ms"],
    run: sandbox,
};

/// Measure, the backend's name, and the target.
const BACKENDS: &[(&str, &str, f64)] = &[
    ("sandbox_namespaces_cpu_ms", "namespaces", 3.0),
    ("sandbox_bubblewrap_cpu_ms", "bubblewrap", 3.0),
    ("sandbox_landlock_cpu_ms", "landlock", 1.0),
];

fn sandbox(stage: &mut Stage) -> Result<Vec<Line>, Failure> {
    stage.example("guard", "sandbox_cost", &[])?;
    let output = Command::new(stage.program("examples/sandbox_cost")).output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let rows: Vec<Value> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let find = |backend: &str| rows.iter().find(|row| row["backend"] == backend);
    let number = |row: &Value, name: &str| row[name].as_f64();
    let bare = find("bare").and_then(|row| number(row, "cpu_ms")).unwrap_or_default();
    let line = |(measure, backend, target): &(&'static str, &str, f64)| {
        let row = find(backend)?;
        let cpu = number(row, "cpu_ms")?;
        let wall = number(row, "wall_ms").unwrap_or_default();
        Some(Line::new(measure, cpu, "ms", Some(*target)).with("wall", wall).with("bare", bare))
    };
    Ok(BACKENDS.iter().filter_map(line).collect())
}
