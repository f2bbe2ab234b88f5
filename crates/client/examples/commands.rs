//! Prints the slash commands as a TypeScript module; `cargo xtask codegen` writes it to its place.

use std::io::Write;

fn main() -> std::io::Result<()> {
    std::io::stdout().write_all(client::commands::typescript().as_bytes())
}
