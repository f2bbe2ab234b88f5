//! Paths that commands name.

use super::Judge;
use crate::UNKNOWN;
use crate::files::Spot;
use crate::finding::Kind;
use crate::rules::Subject;
use crate::shell::Arg;

impl Judge<'_> {
    /// Where an argument leads, if that can be known. Of a path whose end is unknown, the folder counts.
    pub(super) fn spot(&self, arg: &Arg) -> Option<Spot> {
        let text = match arg.text.find(UNKNOWN) {
            None => arg.text.as_str(),
            Some(at) => {
                let known = &arg.text[..at];
                let (folder, _) = known.rsplit_once('/')?;
                if folder.is_empty() { "/" } else { folder }
            }
        };
        match &self.variables.cwd {
            Some(cwd) => Some(self.around.spot(text, cwd)),
            None if text.starts_with(['/', '~']) => Some(self.around.spot(text, self.around.root())),
            None => None,
        }
    }

    /// A path that is only looked at.
    pub(super) fn reads(&mut self, arg: &Arg) {
        let stream = super::redirects::is_sink(&arg.text) || arg.text == "/dev/stdin";
        if stream || arg.text == "-" || arg.text.is_empty() || (arg.unknown() && arg.listed) {
            return;
        }
        let shown = arg.text.replace(UNKNOWN, "…");
        let Some(spot) = self.spot(arg) else {
            return self.extra(Kind::Peek, "it reads a path that can not be known before");
        };
        self.findings.secret |= spot.secret.is_some();
        let subject = Subject::Read(spot.target.clone());
        match (spot.secret, spot.inside) {
            (Some(why), true) => self.findings.add(Kind::Ask, format!("`{shown}` {why}"), subject),
            (Some(why), false) => self.findings.add(Kind::Block, format!("`{shown}` {why}"), subject),
            (None, true) => self.findings.add(Kind::Look, "it looks inside the project", subject),
            (None, false) if spot.public => {
                self.findings.add(Kind::Look, "it reads what everybody may read", subject)
            }
            (None, false) => {
                // All of a home or of the machine holds secrets somewhere.
                self.findings.secret |= self.around.user_home().starts_with(&spot.target);
                self.findings.needs.reads.push(spot.target);
                self.findings.add(Kind::Peek, format!("`{shown}` is outside the project"), subject);
            }
        }
    }

    /// A path that a program writes, beside what is said of the program itself.
    pub(super) fn writes(&mut self, arg: &Arg, verb: &str) {
        if super::redirects::is_sink(&arg.text) {
            return;
        }
        let shown = arg.text.replace(UNKNOWN, "…");
        let Some(spot) = self.spot(arg) else {
            return self.extra(Kind::Ask, format!("it {verb} a path that can not be known before"));
        };
        if spot.inside && spot.target.exists() {
            self.findings.destroy(spot.target.clone());
        }
        let (kind, because) = self.gravity_of_writing(&spot, &shown, verb);
        self.findings.add(kind, because, Subject::Write(spot.target));
    }

    /// A path that comes to be and harms nothing that is there.
    pub(super) fn creates(&mut self, arg: &Arg, what: &str) {
        let shown = arg.text.replace(UNKNOWN, "…");
        let Some(spot) = self.spot(arg).filter(|_| !arg.unknown() || arg.text.contains('/')) else {
            return self.extra(Kind::Ask, "it makes something at a path that can not be known before");
        };
        if spot.inside && spot.later.is_none() && spot.secret.is_none() {
            self.findings.add(
                Kind::Create,
                format!("it makes {what} in the project"),
                Subject::Write(spot.target),
            );
        } else {
            let (kind, because) = self.gravity_of_writing(&spot, &shown, "makes");
            self.findings.add(kind, because, Subject::Write(spot.target));
        }
    }
}

/// How much an argument deserves a look before others like it.
pub(super) fn suspicion(text: &str) -> usize {
    usize::from(text.starts_with(['/', '~', '-'])) * 4
        + usize::from(text.contains("..")) * 2
        + usize::from(text.contains(UNKNOWN))
        + usize::from(text.starts_with('.'))
}
