use super::*;

fn catalogue(config: &str) -> Result<Catalogue, CatalogueError> {
    Catalogue::new(toml::from_str(config).unwrap())
}

fn known(name: &str) -> Known {
    catalogue("").unwrap().get(&name.into()).unwrap().clone()
}

#[test]
fn every_built_in_entry_can_be_read() {
    let names: Vec<String> = catalogue("").unwrap().names().map(str::to_owned).collect();
    assert_eq!(
        names.join(" "),
        "claude codex gemini cline copilot cursor openclaw manus opencode qwen kimi goose auggie"
    );
}

#[test]
fn every_mode_word_is_a_mode_of_ours() {
    for known in catalogue("").unwrap().iter() {
        for mode in known.entry.modes.keys() {
            assert!(mode.parse::<Mode>().is_ok(), "{}: {mode}", known.entry.id);
        }
    }
}

#[test]
fn a_command_that_speaks_acp_is_an_agent() {
    let catalogue = catalogue("[mine]\nacp = [\"my-agent\", \"--acp\"]\nargs = [\"-v\"]").unwrap();
    let mine = catalogue.get(&"mine".into()).unwrap();
    assert_eq!(
        (mine.entry.interface.kind, mine.args(None, &[])),
        (Kind::Acp, vec!["--acp".to_owned(), "-v".to_owned()])
    );
}

#[test]
fn a_name_without_a_command_is_an_error_that_says_what_to_write() {
    let error = catalogue("[mine]\nmodel = \"x\"").unwrap_err();
    assert_eq!(error.hint().as_deref(), Some("agents.mine.acp = [\"COMMAND\", \"--acp\"]"));
}

#[test]
fn an_agent_goes_on_asking_in_every_mode_beyond_ask() {
    let gemini = known("gemini");
    let words = [Mode::Explore, Mode::Plan, Mode::Ask, Mode::Edit, Mode::Auto, Mode::Full]
        .map(|mode| gemini.mode(mode));
    assert_eq!(words, ["plan", "plan", "default", "default", "default", "default"].map(Some));
}

#[test]
fn who_does_not_ask_may_only_look_where_we_want_to_be_asked() {
    let (cursor, gemini) = (known("cursor"), known("gemini"));
    let looks = |known: &Known| {
        [Mode::Explore, Mode::Plan, Mode::Ask, Mode::Edit, Mode::Auto, Mode::Full]
            .map(|mode| known.only_looks(mode))
    };
    assert_eq!(looks(&cursor), [true, true, true, true, false, false]);
    assert_eq!(looks(&gemini), [true, true, false, false, false, false]);
}

#[test]
fn variables_pass_by_name_and_by_beginning() {
    let names = ["OPENAI_API_KEY", "CODEX_HOME", "GITHUB_TOKEN", "PATH"].map(str::to_owned);
    assert_eq!(known("codex").variables(names.into_iter()), ["OPENAI_API_KEY", "CODEX_HOME"]);
}
