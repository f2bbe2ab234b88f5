//! `definition`: where what stands in a line is defined.

use async_trait::async_trait;
use protocol::ToolKind;
use serde_json::Value;

use crate::language::{self, NameInLine, OpenFile, Question};
use crate::{ToolContext, ToolError, ToolOutput};

pub(crate) struct Definition;

#[async_trait]
impl Question for Definition {
    const NAME: &'static str = "definition";
    const DESCRIPTION: &'static str = "Where the name in a line is defined, as the compiler sees it.";
    const KIND: ToolKind = ToolKind::Search;
    type Input = NameInLine;

    fn schema() -> Value {
        NameInLine::schema()
    }

    async fn ask(name: NameInLine, file: OpenFile, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let answer = file.server.ask("textDocument/definition", name.params(&file)?).await?;
        let (text, count) = language::places(context, &answer).await;
        let text = if count == 0 { "no definition is known\n".to_owned() } else { text };
        Ok(ToolOutput::new(text, format!("{count} places")))
    }
}
