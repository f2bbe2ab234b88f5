//! Job descriptions for sub-agents.

/// What a sub-agent is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Role {
    pub name: String,
    /// One line, for whoever chooses.
    pub description: String,
    /// What it is told beside the usual.
    pub prompt: String,
    /// Whether it only looks.
    pub read_only: bool,
    pub max_steps: u32,
    /// The tools it has; all if empty.
    pub tools: Vec<String>,
    /// The model or chain that answers; its parent's without it.
    pub model: Option<String>,
}

const BUILT_IN: &[(&str, &str, bool, u32, &str)] = &[
    ("default", "does what it is told", false, 50, "Do the task and report what you did."),
    (
        "explorer",
        "finds things out, changes nothing",
        true,
        30,
        "Find out what is asked: read, search, follow references. Report facts with paths and line numbers, no guesses.",
    ),
    (
        "worker",
        "makes a change that is well described",
        false,
        50,
        "Make exactly the change that is described, in the style of the code around it. Verify it. Report the files you changed and how you checked them.",
    ),
    (
        "reviewer",
        "reads a change and says what is wrong",
        true,
        40,
        "Review for mistakes that matter: wrong behaviour, missed cases, broken contracts. For each: path, line, what happens, how to fix it. Say so if it is good.",
    ),
    (
        "planner",
        "turns a goal into steps",
        true,
        40,
        "Look at the code, then write a plan of small steps, each with the files it touches and how to check it. Name risks.",
    ),
    (
        "architect",
        "weighs designs",
        true,
        40,
        "Compare at least two designs against the code as it is. Recommend one, with its costs, and say what would change your mind.",
    ),
    (
        "debugger",
        "finds the cause of a failure",
        false,
        60,
        "Reproduce the failure first. Find the cause by evidence, not by trying fixes. Fix it at its root, and show that it is fixed.",
    ),
    (
        "security-reviewer",
        "looks for ways in",
        true,
        40,
        "Look for what an attacker could use: input that is trusted, secrets, paths, commands, access checks. Rate each finding and show how it would be used.",
    ),
    (
        "quality-reviewer",
        "judges how code reads",
        true,
        40,
        "Judge names, structure, duplication, tests and comments. Name the few changes that help most.",
    ),
    (
        "test-engineer",
        "writes tests that would fail",
        false,
        50,
        "Write tests that fail when the feature breaks: real behaviour, edge cases, bad input. Run them. Do not change the code under test to please them.",
    ),
    (
        "build-fixer",
        "makes it build again",
        false,
        40,
        "Make the build pass with the smallest change. Do not delete tests or switch off checks.",
    ),
    (
        "deep-executor",
        "carries a long task through",
        false,
        80,
        "Carry the task through to its end by yourself. Keep a todo list, verify each step, and report what is done and what is not.",
    ),
    (
        "document-specialist",
        "writes documentation",
        false,
        40,
        "Write for a reader who is new here. Check every statement against the code, and every command by running it.",
    ),
    (
        "code-simplifier",
        "makes code simpler without changing what it does",
        false,
        40,
        "Make the code shorter and plainer without changing behaviour. Run the tests before and after.",
    ),
];

/// The roles that come with Covey.
pub fn built_in() -> Vec<Role> {
    let role = |&(name, description, read_only, max_steps, prompt): &(&str, &str, bool, u32, &str)| Role {
        name: name.to_owned(),
        description: description.to_owned(),
        prompt: prompt.to_owned(),
        read_only,
        max_steps,
        tools: vec![],
        model: None,
    };
    BUILT_IN.iter().map(role).collect()
}
