//! Skills: instructions that are read when they are needed.

use std::fs;
use std::path::{Path, PathBuf};

use crate::FrontMatter;
use crate::shelf::{MAX_FILE, Shelf, Shelved, stem};

const FILE: &str = "SKILL.md";

/// A skill, as far as the model is told of it at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skill {
    pub name: String,
    pub description: String,
    pub path: PathBuf,
}

impl Skill {
    /// All of it.
    pub fn text(&self) -> std::io::Result<String> {
        let bytes = fs::read(&self.path)?;
        let text = String::from_utf8_lossy(&bytes[..bytes.len().min(MAX_FILE as usize)]).into_owned();
        Ok(FrontMatter::split(&text).1.to_owned())
    }
}

impl Shelf<'_> {
    /// Every skill that may be used: `skills/NAME/SKILL.md`, or `skills/NAME.md`. The first of a name counts.
    pub fn skills(&self) -> Shelved<Skill> {
        let mut shelved = Shelved::default();
        let mut files = self.files("skills", &[".covey/skills", ".claude/skills"]);
        let person = self.person.iter().map(|folder| folder.join("skills"));
        for folder in person.chain([".covey/skills", ".claude/skills"].map(|name| self.root.join(name))) {
            let mut inside: Vec<PathBuf> = fs::read_dir(folder)
                .into_iter()
                .flatten()
                .filter_map(|entry| Some(entry.ok()?.path().join(FILE)))
                .filter(|path| path.is_file())
                .collect();
            inside.sort();
            files.extend(inside);
        }
        let mut skills: Vec<Skill> = Vec::new();
        for path in files {
            let Some(text) = self.read(&path, &mut shelved) else { continue };
            let (front, body) = FrontMatter::split(&text);
            let name = front.text("name").map_or_else(|| name_of(&path), str::to_owned);
            let description = front.text("description").map_or_else(|| first_line(body), str::to_owned);
            if !skills.iter().any(|known| known.name == name) {
                skills.push(Skill { name, description, path });
            }
        }
        shelved.items = skills;
        shelved
    }
}

fn name_of(path: &Path) -> String {
    match path.file_name().is_some_and(|name| name == FILE) {
        true => path.parent().map(stem).unwrap_or_default(),
        false => stem(path),
    }
}

fn first_line(text: &str) -> String {
    let line = text.lines().map(|line| line.trim_start_matches('#').trim()).find(|line| !line.is_empty());
    line.unwrap_or_default().chars().take(200).collect()
}
