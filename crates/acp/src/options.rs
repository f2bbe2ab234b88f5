//! What can be chosen in a session: modes, models, how much to think.

use agent_client_protocol_schema::v1 as schema;
use serde_json::{Value, json};

/// One thing to choose, and what there is.
#[derive(Debug, Clone, PartialEq)]
pub struct ConfigOption {
    pub id: String,
    pub name: String,
    pub about: About,
    pub current: String,
    pub choices: Vec<Choice>,
    /// It is set by true and false, not by words.
    pub switch: bool,
}

/// What a choice is about, as far as that is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum About {
    Mode,
    Model,
    Thinking,
    Other,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    pub value: String,
    pub name: String,
}

impl From<schema::SessionConfigOption> for ConfigOption {
    fn from(option: schema::SessionConfigOption) -> Self {
        let about = match option.category {
            Some(schema::SessionConfigOptionCategory::Mode) => About::Mode,
            Some(schema::SessionConfigOptionCategory::Model) => About::Model,
            Some(schema::SessionConfigOptionCategory::ThoughtLevel) => About::Thinking,
            _ => About::Other,
        };
        let switch = matches!(option.kind, schema::SessionConfigKind::Boolean(_));
        let (current, choices) = match option.kind {
            schema::SessionConfigKind::Select(select) => {
                let choice = |option: schema::SessionConfigSelectOption| Choice {
                    value: option.value.0.to_string(),
                    name: option.name,
                };
                let choices = match select.options {
                    schema::SessionConfigSelectOptions::Ungrouped(all) => {
                        all.into_iter().map(choice).collect()
                    }
                    schema::SessionConfigSelectOptions::Grouped(groups) => {
                        groups.into_iter().flat_map(|group| group.options).map(choice).collect()
                    }
                    _ => Vec::new(),
                };
                (select.current_value.0.to_string(), choices)
            }
            schema::SessionConfigKind::Boolean(switch) => {
                let both = [("true", "on"), ("false", "off")];
                let choice =
                    |(value, name): (&str, &str)| Choice { value: value.to_owned(), name: name.to_owned() };
                (switch.current_value.to_string(), both.map(choice).to_vec())
            }
            _ => (String::new(), Vec::new()),
        };
        Self { id: option.id.0.to_string(), name: option.name, about, current, choices, switch }
    }
}

impl ConfigOption {
    /// In the protocol's form.
    pub(crate) fn to_value(&self) -> Value {
        let category = match self.about {
            About::Mode => Some("mode"),
            About::Model => Some("model"),
            About::Thinking => Some("thought_level"),
            About::Other => None,
        };
        let choice = |choice: &Choice| json!({"value": choice.value, "name": choice.name});
        let mut value = json!({
            "id": self.id, "name": self.name, "type": "select", "currentValue": self.current,
            "options": self.choices.iter().map(choice).collect::<Vec<_>>(),
        });
        if let Some(category) = category {
            value["category"] = json!(category);
        }
        value
    }

    /// The choice that goes by this name or value.
    pub fn choice(&self, wanted: &str) -> Option<&Choice> {
        self.choices
            .iter()
            .find(|choice| choice.value == wanted)
            .or_else(|| self.choices.iter().find(|choice| choice.name.eq_ignore_ascii_case(wanted)))
            // Some agents name their modes by addresses that end in the word.
            .or_else(|| self.choices.iter().find(|choice| choice.value.ends_with(&format!("#{wanted}"))))
    }
}
