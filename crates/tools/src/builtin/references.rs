//! `references`: everywhere that a thing is used.

use async_trait::async_trait;
use protocol::ToolKind;
use serde_json::{Value, json};

use crate::language::{self, NameInLine, OpenFile, Question};
use crate::{ToolContext, ToolError, ToolOutput};

pub(crate) struct References;

#[async_trait]
impl Question for References {
    const NAME: &'static str = "references";
    const DESCRIPTION: &'static str =
        "Everywhere that the thing named in a line is used, as the compiler sees it.";
    const KIND: ToolKind = ToolKind::Search;
    type Input = NameInLine;

    fn schema() -> Value {
        NameInLine::schema()
    }

    async fn ask(name: NameInLine, file: OpenFile, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let mut params = name.params(&file)?;
        params["context"] = json!({"includeDeclaration": true});
        let answer = file.server.ask("textDocument/references", params).await?;
        let (text, count) = language::places(context, &answer).await;
        let text = if count == 0 { "it is used nowhere\n".to_owned() } else { text };
        Ok(ToolOutput::new(text, format!("{count} places")))
    }
}
