//! What people add without code: standing rules, skills, commands, roles, hooks.
//!
//! All but hooks is Markdown, with a few lines of front matter, in the person's own folder or in the project's. What a project
//! ships acts only when the person accepted it; whether they did is asked of whoever opens a [`Shelf`]. Reading is bounded
//! and lazy: a skill's text is read when it is wanted, not when it is listed.
//!
//! Left to others: what is accepted (`guard`), what is made of it (`engine`).

mod commands;
mod front_matter;
mod hooks;
mod roles;
mod rules;
mod shelf;
mod skills;

pub use commands::CommandText;
pub use front_matter::FrontMatter;
pub use hooks::{BadHooks, Hook};
pub use roles::RoleText;
pub use rules::Rule;
pub use shelf::{Shelf, Shelved};
pub use skills::Skill;
