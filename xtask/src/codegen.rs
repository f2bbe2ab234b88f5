//! The TypeScript side of what is written in Rust.

use crate::run::{self, Failure};

/// Which example of which package prints which file.
const FILES: [(&str, &str, &str); 2] = [
    ("protocol", "typescript", "packages/protocol/src/generated/protocol.ts"),
    ("client", "commands", "packages/protocol/src/generated/commands.ts"),
];

pub(crate) fn codegen(arguments: &[String]) -> Result<(), Failure> {
    let only_check = arguments.iter().any(|argument| argument == "--check");
    FILES.iter().try_for_each(|(package, example, file)| generate(package, example, file, only_check))
}

fn generate(package: &str, example: &str, file: &str, only_check: bool) -> Result<(), Failure> {
    let fresh = run::output("cargo", &["run", "--quiet", "--package", package, "--example", example])?;
    let path = run::root().join(file);
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    if committed == fresh {
        println!("{file} is fresh");
        return Ok(());
    }
    if only_check {
        return Err(Failure::new(format!("{file} is stale\nhint: run `cargo xtask codegen` and commit it")));
    }
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(&path, fresh)?;
    println!("wrote {file}");
    Ok(())
}
