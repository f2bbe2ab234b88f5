//! `browser`: a page as a person would see it.

use std::time::Duration;

use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use guard::Action;
use protocol::ToolKind;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::browser::{Browser, Window};
use crate::{Group, Picture, Tool, ToolContext, ToolError, ToolOutput};

const MAX_TEXT: usize = 12_000;

pub(crate) struct BrowserTool;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    action: String,
    #[serde(default)]
    url: Option<String>,
    #[serde(default)]
    selector: Option<String>,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    expression: Option<String>,
}

enum Step {
    Open(String),
    Click(String),
    Type(String, String),
    Screenshot,
    Evaluate(String),
    Console,
}

#[async_trait]
impl Tool for BrowserTool {
    fn name(&self) -> &str {
        "browser"
    }

    fn description(&self) -> &str {
        "Drive a headless Chromium: open a page, click, type, take a screenshot, evaluate JavaScript, read the console."
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "action": {"enum": ["open", "click", "type", "screenshot", "evaluate", "console"]},
                "url": {"type": "string", "description": "for open"},
                "selector": {"type": "string", "description": "CSS, for click and type"},
                "text": {"type": "string", "description": "for type"},
                "expression": {"type": "string", "description": "for evaluate"}
            },
            "required": ["action"],
            "additionalProperties": false
        })
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Fetch
    }

    fn group(&self) -> Group {
        Group::Web
    }

    fn title(&self, input: &Value) -> String {
        format!("browser {}", input.get("action").and_then(Value::as_str).unwrap_or_default())
    }

    /// A page that is used can do anything that a page can: that is not known beforehand.
    fn actions(&self, input: &Value, context: &ToolContext) -> Vec<Action> {
        let text = |name: &str| input.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        match text("action").as_str() {
            "open" => vec![
                Action::Fetch { url: text("url") },
                Action::Program { argv: vec!["chromium".to_owned(), text("url")], cwd: context.cwd.clone() },
            ],
            "screenshot" | "console" => vec![Action::Inward],
            _ => vec![Action::Foreign { read_only: false }],
        }
    }

    fn time_limit(&self, _input: &Value) -> Duration {
        Duration::from_secs(90)
    }

    async fn call(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let input: Input = serde_json::from_value(input).map_err(ToolError::bad_input)?;
        let browser = context.state.extra::<Browser>();
        let step = input.step()?;
        if !matches!(step, Step::Open(_)) && !browser.is_open().await {
            return Err(ToolError("no page is open: `open` one first".to_owned()));
        }
        let mut output = browser.with(context, async |window| step.take(window).await).await?;
        output.is_foreign = true;
        Ok(output)
    }
}

impl Input {
    fn step(self) -> Result<Step, ToolError> {
        let need = |value: Option<String>, name: &str| {
            value.ok_or_else(|| ToolError(format!("`{}` needs `{name}`", self.action)))
        };
        Ok(match self.action.as_str() {
            "open" => {
                let url = need(self.url, "url")?;
                let known = net::Url::parse(&url)
                    .map_err(|error| ToolError(format!("`{url}` is no address: {error}")))?;
                if !matches!(known.scheme(), "http" | "https") {
                    return Err(ToolError("only http and https are opened".to_owned()));
                }
                Step::Open(known.to_string())
            }
            "click" => Step::Click(need(self.selector, "selector")?),
            "type" => Step::Type(need(self.selector, "selector")?, need(self.text, "text")?),
            "screenshot" => Step::Screenshot,
            "evaluate" => Step::Evaluate(need(self.expression, "expression")?),
            "console" => Step::Console,
            other => return Err(ToolError(format!("`{other}` is no action"))),
        })
    }
}

impl Step {
    async fn take(self, window: &mut Window) -> Result<ToolOutput, ToolError> {
        let (text, summary) = match self {
            Self::Open(url) => (window.go(&url).await?, "opened"),
            Self::Click(selector) => {
                window.click(&selector).await?;
                (window.describe().await?, "clicked")
            }
            Self::Type(selector, text) => {
                window.type_into(&selector, &text).await?;
                (window.describe().await?, "typed")
            }
            Self::Evaluate(expression) => (window.evaluate(&expression).await?.to_string(), "evaluated"),
            Self::Console => {
                let said = window.console().await?;
                (if said.is_empty() { "(the console is empty)".to_owned() } else { said }, "read")
            }
            Self::Screenshot => {
                let bytes = STANDARD.decode(window.picture().await?);
                let bytes = bytes.map_err(|_| ToolError("the browser sent no picture".to_owned()))?;
                let images = vec![Picture { media_type: "image/png".to_owned(), bytes }];
                return Ok(ToolOutput { images, ..ToolOutput::new("a picture of the page\n", "screenshot") });
            }
        };
        let mut shown: String = text.chars().take(MAX_TEXT).collect();
        if shown.len() < text.len() {
            shown.push_str("\n… [the rest is left out]");
        }
        shown.push('\n');
        Ok(ToolOutput::new(shown, summary))
    }
}
