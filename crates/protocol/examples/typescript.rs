//! Prints the TypeScript module; `cargo xtask codegen` writes it to its place.

use std::io::Write;

fn main() -> std::io::Result<()> {
    std::io::stdout().write_all(protocol::typescript().as_bytes())
}
