//! What a page says: its operators are followed as far as they show text, and where on the page it stands decides what is
//! a blank and what a new line.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::document::{Document, Page};
use super::font::Font;
use super::object::{Dict, Lexer, Object};

/// Operands that are kept; nothing that shows text has more.
const MAX_OPERANDS: usize = 32;
/// Forms in forms, and forms in one page.
const MAX_FORMS: usize = 8;
const MAX_DRAWN: usize = 1000;
const MAX_STATES: usize = 64;

/// What a page says.
pub(super) struct Said {
    pub(super) text: String,
    /// Letters of which nobody knows what they are.
    pub(super) unknown: usize,
}

pub(super) fn text(document: &Document<'_>, page: &Page<'_>, most: usize) -> Said {
    let lacks_resources = page.lacks_resources;
    let mut writer = Writer {
        document,
        most,
        lacks_resources,
        fonts: BTreeMap::new(),
        out: String::new(),
        unknown: 0,
        pen: None,
        drawn: 0,
    };
    let mut bytes = Vec::new();
    for part in &page.contents {
        if let Some((_, content)) = document.stream(part) {
            bytes.extend(content);
            bytes.push(b'\n');
        }
    }
    writer.follow(&bytes, page.resources, State::default(), 0);
    Said { text: writer.out, unknown: writer.unknown }
}

struct Writer<'a, 'b> {
    document: &'a Document<'b>,
    most: usize,
    fonts: BTreeMap<u32, Rc<Font>>,
    out: String,
    unknown: usize,
    lacks_resources: bool,
    /// Where the last glyph ended, and how large it was.
    pen: Option<(f64, f64, f64)>,
    /// How many forms were.
    drawn: usize,
}

#[derive(Clone)]
struct State {
    page: Matrix,
    font: Rc<Font>,
    size: f64,
    char_space: f64,
    word_space: f64,
    leading: f64,
    stretch: f64,
}

impl Default for State {
    fn default() -> Self {
        let (size, char_space, word_space, leading, stretch) = (1.0, 0.0, 0.0, 0.0, 1.0);
        Self { page: Matrix::ONE, font: Rc::default(), size, char_space, word_space, leading, stretch }
    }
}

#[derive(Debug, Clone, Copy)]
struct Matrix([f64; 6]);

impl Matrix {
    const ONE: Self = Self([1.0, 0.0, 0.0, 1.0, 0.0, 0.0]);

    fn of(operands: &[Object]) -> Self {
        let mut numbers = [0.0; 6];
        for (number, operand) in numbers.iter_mut().zip(operands) {
            *number = operand.number().unwrap_or_default();
        }
        Self(numbers)
    }

    /// This first, then `then`.
    fn times(self, then: Self) -> Self {
        let ([a, b, c, d, e, f], [g, h, i, j, k, l]) = (self.0, then.0);
        Self([
            a * g + b * i,
            a * h + b * j,
            c * g + d * i,
            c * h + d * j,
            e * g + f * i + k,
            e * h + f * j + l,
        ])
    }

    fn moved(self, x: f64, y: f64) -> Self {
        Self([1.0, 0.0, 0.0, 1.0, x, y]).times(self)
    }
}

impl Writer<'_, '_> {
    fn follow(&mut self, content: &[u8], resources: &Dict, mut state: State, depth: usize) {
        let mut lexer = Lexer::new(content, 0);
        let mut operands: Vec<Object> = Vec::new();
        let mut states: Vec<State> = Vec::new();
        let (mut line, mut place) = (Matrix::ONE, Matrix::ONE);
        while self.out.len() < self.most
            && let Some(object) = lexer.next()
        {
            let Object::Word(operator) = object else {
                if operands.len() < MAX_OPERANDS {
                    operands.push(object);
                }
                continue;
            };
            let number = |at: usize| operands.get(at).and_then(Object::number).unwrap_or_default();
            match operator.as_str() {
                "q" if states.len() < MAX_STATES => states.push(state.clone()),
                "Q" => state = states.pop().unwrap_or(state),
                "cm" => state.page = Matrix::of(&operands).times(state.page),
                "BT" => (line, place) = (Matrix::ONE, Matrix::ONE),
                "Tf" => {
                    let name = operands.first().and_then(Object::name).unwrap_or_default();
                    state.font = self.font(resources, name);
                    state.size = number(1);
                }
                "Tc" => state.char_space = number(0),
                "Tw" => state.word_space = number(0),
                "Tz" => state.stretch = number(0) / 100.0,
                "TL" => state.leading = number(0),
                "Tm" => (line, place) = (Matrix::of(&operands), Matrix::of(&operands)),
                "Td" | "TD" => {
                    if operator == "TD" {
                        state.leading = -number(1);
                    }
                    line = line.moved(number(0), number(1));
                    place = line;
                }
                "T*" | "'" | "\"" => {
                    line = line.moved(0.0, -state.leading);
                    place = line;
                    if let Some(Object::Text(text)) = operands.last().filter(|_| operator != "T*") {
                        self.show(text, &state, &mut place);
                    }
                }
                "Tj" => {
                    if let Some(Object::Text(text)) = operands.first() {
                        self.show(text, &state, &mut place);
                    }
                }
                "TJ" => {
                    for item in operands.first().and_then(Object::array).unwrap_or_default() {
                        match item {
                            Object::Text(text) => self.show(text, &state, &mut place),
                            Object::Number(back) => {
                                place = place.moved(-back / 1000.0 * state.size * state.stretch, 0.0);
                            }
                            _ => {}
                        }
                    }
                }
                "Do" if depth < MAX_FORMS && self.drawn < MAX_DRAWN => {
                    self.drawn += 1;
                    let name = operands.first().and_then(Object::name).unwrap_or_default();
                    self.form(resources, name, &state, depth);
                }
                // A picture in the middle of the page: what it is made of looks like anything.
                "ID" => lexer.at = end_of_picture(content, lexer.at),
                _ => {}
            }
            operands.clear();
        }
    }

    fn font(&mut self, resources: &Dict, name: &str) -> Rc<Font> {
        let document = self.document;
        let lost = || Rc::new(Font::lost());
        let is_lost = self.lacks_resources || document.lacks(resources, "Font");
        // One that nobody speaks of is a mistake of whoever made the file, and mostly an ordinary one.
        let other = || if is_lost { lost() } else { Rc::default() };
        let Some(fonts) = document.field(resources, "Font").dict() else { return other() };
        let Some(font) = fonts.get(name) else { return other() };
        let read = || document.resolve(font).dict().map(|dict| Rc::new(Font::read(document, dict)));
        match font {
            Object::Reference(number) => match self.fonts.get(number) {
                Some(known) => known.clone(),
                None => {
                    let new = read().unwrap_or_else(lost);
                    self.fonts.insert(*number, new.clone());
                    new
                }
            },
            _ => read().unwrap_or_else(lost),
        }
    }

    fn form(&mut self, resources: &Dict, name: &str, state: &State, depth: usize) {
        let document = self.document;
        let forms = document.field(resources, "XObject").dict();
        let Some(form) = forms.and_then(|forms| forms.get(name)) else { return };
        let is_form = |dict: &Dict| document.field(dict, "Subtype").name() == Some("Form");
        if !document.resolve(form).dict().is_some_and(is_form) {
            return;
        }
        let Some((dict, content)) = document.stream(form) else { return };
        let mut state = state.clone();
        if let Some(matrix) = document.field(dict, "Matrix").array() {
            state.page = Matrix::of(matrix).times(state.page);
        }
        let own = document.field(dict, "Resources").dict().unwrap_or(resources);
        self.follow(&content, own, state, depth + 1);
    }

    fn show(&mut self, text: &[u8], state: &State, place: &mut Matrix) {
        let font = state.font.clone();
        for glyph in font.glyphs(text) {
            if self.out.len() >= self.most {
                return;
            }
            let [a, b, _, _, x, y] = place.times(state.page).0;
            let size = (a.hypot(b) * state.size).abs().max(0.01);
            self.unknown += usize::from(font.is_lost() && glyph.text.is_empty());
            self.go_to(x, y, size, &glyph.text);
            self.out.push_str(&glyph.text);
            let extra = state.char_space + if glyph.is_blank { state.word_space } else { 0.0 };
            *place = place.moved((glyph.width / 1000.0 * state.size + extra) * state.stretch, 0.0);
            let [.., x, y] = place.times(state.page).0;
            self.pen = Some((x, y, size));
        }
    }

    /// A new line or a blank, where the page has room between what was written and what comes.
    fn go_to(&mut self, x: f64, y: f64, size: f64, next: &str) {
        let Some((pen_x, pen_y, pen_size)) = self.pen else { return };
        let size = size.max(pen_size);
        let (across, down) = (x - pen_x, (y - pen_y).abs());
        if down > 0.5 * size || across < -2.0 * size {
            while self.out.ends_with(' ') {
                self.out.pop();
            }
            if !self.out.is_empty() && !self.out.ends_with("\n\n") {
                self.out.push('\n');
                // More than a line and a half is between paragraphs.
                if down > 1.8 * size && !self.out.ends_with("\n\n") {
                    self.out.push('\n');
                }
            }
        } else if across > 0.15 * size
            && !self.out.ends_with([' ', '\n'])
            && !self.out.is_empty()
            && !next.starts_with(' ')
        {
            self.out.push(' ');
        }
    }
}

/// After the next `EI` that stands alone.
fn end_of_picture(content: &[u8], from: usize) -> usize {
    let rest = content.get(from..).unwrap_or_default();
    let is_end = |window: &[u8]| {
        window[0].is_ascii_whitespace() && &window[1..3] == b"EI" && window[3].is_ascii_whitespace()
    };
    rest.windows(4).position(is_end).map_or(content.len(), |at| from + at + 3)
}
