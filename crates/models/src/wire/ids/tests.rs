use proptest::prelude::*;

use super::*;
use crate::ToolCall;

fn answer(ids: &[&str]) -> std::sync::Arc<Message> {
    let call = |id: &&str| {
        Block::ToolCall(ToolCall {
            id: (*id).to_owned(),
            name: "f".to_owned(),
            arguments: serde_json::json!({}),
        })
    };
    Message::assistant(ids.iter().map(call).collect())
}

/// The ids of calls and, after `>`, of results.
fn written(request: &Request, rule: IdRule) -> String {
    let dialect = match rule {
        IdRule::Any => Dialect::OpenAiChat,
        IdRule::Safe => Dialect::Anthropic,
        IdRule::Nine => Dialect::OpenAiChatShortIds,
    };
    let list = pieces(request, dialect, "o", rule, |message, calls| match message.role() {
        Role::Tool => {
            let ids: Vec<_> = calls.results(message).iter().map(|(_, id, _)| (*id).to_owned()).collect();
            format!("> {}", ids.join(" "))
        }
        _ => {
            (0..message.calls().count()).map(|place| calls.id(place).to_owned()).collect::<Vec<_>>().join(" ")
        }
    });
    list.iter().map(|(_, piece)| piece.to_string()).collect::<Vec<_>>().join("\n")
}

#[test]
fn ids_are_made_to_fit_and_results_follow() {
    let result = |id: &str| ToolResult::text(id, "");
    let request = Request::new(
        "",
        vec![
            answer(&["abcdefghi", "toolu:1", ""]),
            Message::results([result("toolu:1"), result("abcdefghi"), result("")]),
            // The same ids again, as some servers do, and one twice.
            answer(&["abcdefghi", "x", "x"]),
            Message::results([result("x"), result("x"), result("abcdefghi")]),
        ],
    );
    insta::assert_snapshot!(written(&request, IdRule::Safe), @"
    abcdefghi call_470ebd2ab417011f call_4d25767f9dce13f5
    > call_470ebd2ab417011f abcdefghi call_4d25767f9dce13f5
    call_23dad749615a281d x call_0b03551c38557266
    > x call_0b03551c38557266 call_23dad749615a281d
    ");
    let nine = written(&request, IdRule::Nine);
    assert!(nine.split_whitespace().filter(|word| *word != ">").all(|id| IdRule::Nine.accepts(id)), "{nine}");
    assert_eq!(nine, written(&request, IdRule::Nine));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_the_ids_are_they_are_accepted_unique_and_stay(
        answers in proptest::collection::vec(proptest::collection::vec("[a-c:]{0,2}|[a-z]{9}", 1..4), 1..6),
    ) {
        for rule in [IdRule::Any, IdRule::Safe, IdRule::Nine] {
            let mut messages = Vec::new();
            let mut before = String::new();
            for ids in &answers {
                let ids: Vec<_> = ids.iter().map(String::as_str).collect();
                messages.push(answer(&ids));
                messages.push(Message::results(ids.iter().map(|id| ToolResult::text(*id, ""))));
                let all = written(&Request::new("", messages.clone()), rule);
                prop_assert!(all.starts_with(&before));
                let mut seen = HashSet::new();
                let mut last = Vec::new();
                for line in all.lines() {
                    if let Some(results) = line.strip_prefix("> ") {
                        prop_assert_eq!(results.split(' ').map(str::to_owned).collect::<Vec<_>>(), last.clone());
                    } else {
                        last = line.split(' ').map(str::to_owned).collect();
                        for id in &last {
                            prop_assert!(rule.accepts(id) && seen.insert(id.clone()), "{}", all);
                        }
                    }
                }
                before = all;
            }
        }
    }
}
