//! The TypeScript side of the vocabulary.

use crate::run::{self, Failure};

const FILE: &str = "packages/protocol/src/generated/protocol.ts";

pub(crate) fn codegen(arguments: &[String]) -> Result<(), Failure> {
    let fresh =
        run::output("cargo", &["run", "--quiet", "--package", "protocol", "--example", "typescript"])?;
    let path = run::root().join(FILE);
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    if committed == fresh {
        println!("{FILE} is fresh");
        return Ok(());
    }
    if arguments.iter().any(|argument| argument == "--check") {
        return Err(Failure::new(format!("{FILE} is stale\nhint: run `cargo xtask codegen` and commit it")));
    }
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(&path, fresh)?;
    println!("wrote {FILE}");
    Ok(())
}
