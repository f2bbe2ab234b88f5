//! What people added for the built-in agent: rules, skills, roles, what it noted before.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use extend::{RoleText, Rule, Shelf, Skill};
use globset::{Glob, GlobSet, GlobSetBuilder};
use guard::TrustStore;
use project::Home;

use super::roles::{Role, built_in};

/// What the model noted is told again up to this length.
const MAX_MEMORY: usize = 8 * 1024;
const DEFAULT_STEPS: u32 = 40;

/// Read once, when a session's agent is made.
#[derive(Default)]
pub struct Extras {
    pub(super) rules: Vec<Rule>,
    pub(super) skills: Vec<Skill>,
    pub(super) roles: Vec<Role>,
    pub(super) memory_folder: Option<PathBuf>,
    pub(super) memory: Option<String>,
    /// Files of the project that would act and that nobody accepted.
    pub(super) held: Vec<PathBuf>,
    by_path: Vec<(GlobSet, usize)>,
    told: Mutex<HashSet<usize>>,
    /// Where rules of single folders are looked for.
    place: Option<RulesPlace>,
    /// Folders in which they were.
    looked: Mutex<HashSet<PathBuf>>,
}

struct RulesPlace {
    home: Home,
    root: PathBuf,
    cwd: PathBuf,
}

impl Extras {
    /// What there is for a session that works in `cwd` of the project at `root`.
    pub fn read(home: Option<&Home>, root: &Path, cwd: &Path) -> Self {
        let (rules, skills, roles) =
            with_shelf(home, root, cwd, |shelf| (shelf.rules(), shelf.skills(), shelf.roles()));
        let mut held = [rules.held, skills.held, roles.held].concat();
        held.sort();
        held.dedup();
        let memory_folder = home.map(|home| home.data_dir().join("memory").join(project_name(root)));
        let mut named: Vec<Role> = roles.items.into_iter().map(role).collect();
        for role in built_in() {
            if !named.iter().any(|known| known.name == role.name) {
                named.push(role);
            }
        }
        let memory = memory_folder.as_deref().and_then(noted);
        let rules = rules.items;
        let by_path =
            rules.iter().enumerate().filter_map(|(at, rule)| Some((globs(&rule.paths)?, at))).collect();
        Self {
            rules,
            skills: skills.items,
            roles: named,
            memory_folder,
            memory,
            held,
            by_path,
            told: Mutex::default(),
            place: home.map(|home| RulesPlace {
                home: home.clone(),
                root: root.to_owned(),
                cwd: cwd.to_owned(),
            }),
            looked: Mutex::default(),
        }
    }

    /// Rules for this file of the project that the model has not been told of yet, the nearest last.
    pub(super) fn rules_for(&self, path: &Path) -> Vec<Rule> {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = |(globs, at): &&(GlobSet, usize)| globs.is_match(path) && told.insert(*at);
        let mut rules: Vec<Rule> =
            self.by_path.iter().filter(fits).map(|(_, at)| self.rules[*at].clone()).collect();
        rules.extend(self.rules_on_the_way(path));
        rules
    }

    /// From the folders between the project's root and a file in it.
    fn rules_on_the_way(&self, path: &Path) -> Vec<Rule> {
        let Some(RulesPlace { home, root, cwd }) = self.place.as_ref().filter(|_| path.is_relative()) else {
            return vec![];
        };
        let mut looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
        let folders = path.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty());
        let mut new: Vec<PathBuf> = folders
            .filter(|folder| looked.insert(folder.to_path_buf()))
            .map(|folder| root.join(folder))
            .collect();
        let has_rules =
            |folder: &PathBuf| ["AGENTS.md", "CLAUDE.md"].iter().any(|name| folder.join(name).is_file());
        new.retain(has_rules);
        new.reverse();
        if new.is_empty() {
            return vec![];
        }
        with_shelf(Some(home), root, cwd, |shelf| {
            new.iter().filter_map(|folder| shelf.rules_in(folder)).collect()
        })
    }
}

/// What the person and the project keep, as far as the person accepted it.
pub(crate) fn with_shelf<T>(
    home: Option<&Home>,
    root: &Path,
    cwd: &Path,
    take: impl FnOnce(&Shelf<'_>) -> T,
) -> T {
    let trust = home.map(|home| TrustStore::open(home.data_dir(), root));
    let accepts =
        |path: &Path, content: &[u8]| trust.as_ref().is_some_and(|trust| trust.accepts_file(path, content));
    let person = home.map(|home| home.config_dir().to_owned());
    take(&Shelf { person, root: root.to_owned(), cwd: cwd.to_owned(), accepts: &accepts })
}

/// The roles that sub-agents can have here: the person's and the project's, then those that come with Covey.
pub(crate) fn role_names(home: Option<&Home>, root: &Path, cwd: &Path) -> Vec<(String, String)> {
    let added = with_shelf(home, root, cwd, |shelf| shelf.roles()).items.into_iter().map(role);
    let mut names: Vec<(String, String)> = Vec::new();
    for role in added.chain(built_in()) {
        if !names.iter().any(|(name, _)| *name == role.name) {
            names.push((role.name, role.description));
        }
    }
    names
}

/// None for rules that count everywhere. A pattern that is none matches nothing.
fn globs(patterns: &[String]) -> Option<GlobSet> {
    if patterns.is_empty() {
        return None;
    }
    let mut set = GlobSetBuilder::new();
    for glob in patterns.iter().filter_map(|pattern| Glob::new(pattern).ok()) {
        set.add(glob);
    }
    set.build().ok()
}

fn role(text: RoleText) -> Role {
    // Names that other programs have for the same tools.
    let ours = |name: String| match name.as_str() {
        "bash" => "shell".to_owned(),
        "ls" => "list_dir".to_owned(),
        "multiedit" => "edit".to_owned(),
        "webfetch" => "web_fetch".to_owned(),
        "websearch" => "web_search".to_owned(),
        _ => name,
    };
    Role {
        name: text.name,
        description: text.description,
        prompt: text.prompt,
        read_only: text.read_only,
        max_steps: text.max_steps.unwrap_or(DEFAULT_STEPS),
        tools: text.tools.into_iter().map(ours).collect(),
        model: text.model,
    }
}

/// A name for the project's own folder that says which it is and is no other's.
fn project_name(root: &Path) -> String {
    let name =
        root.file_name().unwrap_or_default().to_string_lossy().replace(|c: char| !c.is_alphanumeric(), "-");
    let hash = blake3::hash(root.as_os_str().as_encoded_bytes()).to_hex();
    format!("{name}-{}", &hash[..12])
}

/// All notes of the project, the newest part if they are long.
fn noted(folder: &Path) -> Option<String> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).ok()?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.sort();
    let text: String = files
        .iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .filter_map(|path| std::fs::read_to_string(path).ok())
        .collect();
    let start = text.ceil_char_boundary(text.len().saturating_sub(MAX_MEMORY));
    (!text.trim().is_empty()).then(|| text[start..].to_owned())
}
