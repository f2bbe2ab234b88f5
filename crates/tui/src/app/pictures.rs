//! Pictures of the conversation, for terminals that can show them.

use protocol::{Content, Event, EventBody, Image, Request, Source, ToolContent};

use super::{App, Effect, Ticket};
use crate::picture::Picture;

/// The numbers that a colour can tell apart; then they begin again.
const NUMBERS: u8 = 250;

impl App {
    /// What an event has to show is fetched; it is shown below when it is there.
    pub(super) fn look_for_pictures(&mut self, event: &Event, effects: &mut Vec<Effect>) {
        if self.pictures.is_none() || event.is_of_child() {
            return;
        }
        let images: Vec<&Image> = match &event.body {
            EventBody::UserPrompt(prompt) => prompt.content.iter().filter_map(image).collect(),
            EventBody::ToolCallUpdate(update) => {
                let parts = update.content.iter().flatten().filter_map(|part| match part {
                    ToolContent::Content { content } => image(content),
                    _ => None,
                });
                parts.collect()
            }
            _ => return,
        };
        for image in images.into_iter().filter(|image| image.media_type == "image/png") {
            match (&image.source, self.session().cloned()) {
                (Source::Data(coded), _) => self.show_picture(coded, effects),
                (Source::Blob(blob), Some(session)) => {
                    let name = image.name.clone().unwrap_or_default();
                    let request = Request::Blob { session, blob: blob.clone() };
                    effects.push(Effect::Read(request, Ticket::Picture(name)));
                }
                (Source::Blob(_), None) => {}
            }
        }
    }

    pub(super) fn show_picture(&mut self, coded: &str, effects: &mut Vec<Effect>) {
        let Some(last) = &mut self.pictures else { return };
        let number = *last % NUMBERS + 1;
        let Some(picture) = Picture::of_png(number, coded) else { return };
        *last = number;
        effects.push(Effect::Send(picture.sent(coded)));
        self.transcript.sheet(move |columns| picture.rows(columns));
    }
}

fn image(content: &Content) -> Option<&Image> {
    match content {
        Content::Image(image) => Some(image),
        _ => None,
    }
}
