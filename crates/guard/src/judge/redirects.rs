//! Redirections: what goes where.

use std::path::Path;

use super::{Flow, Judge};
use crate::files::Spot;
use crate::finding::Kind;
use crate::rules::Subject;
use crate::shell::{Arg, Direction, Redirect, Target};

impl Judge<'_> {
    /// Looks at all of them; answers what comes in, the gravest if there are several.
    pub(super) fn redirects(&mut self, redirects: &[Redirect], input: &Flow) -> Flow {
        let all = self.inputs(redirects, input);
        let hidden = all.iter().find(|flow| matches!(flow, Flow::Hidden(_)));
        hidden.or(all.last()).cloned().unwrap_or(Flow::Nothing)
    }

    /// Everything that comes in. The last is what the program gets; the others are looked at too, so that a redirection
    /// never makes a command look better.
    pub(super) fn inputs(&mut self, redirects: &[Redirect], input: &Flow) -> Vec<Flow> {
        let mut inputs = vec![input.clone()];
        for redirect in redirects {
            match &redirect.target {
                Target::Descriptor => {}
                Target::Text(word) => {
                    self.substitutions(word);
                    let value = self.variables.text(word);
                    inputs.push(if value.text.contains(crate::UNKNOWN) {
                        Flow::Data
                    } else {
                        Flow::Text(value.text)
                    });
                }
                Target::File(word) => {
                    self.substitutions(word);
                    for arg in self.variables.expand(word) {
                        match redirect.direction {
                            Direction::Read => {
                                let network =
                                    arg.text.starts_with("/dev/tcp") || arg.text.starts_with("/dev/udp");
                                inputs.push(if network { Flow::Hidden("downloaded") } else { Flow::File });
                                self.opens(&arg, false, redirect.direction);
                            }
                            direction => self.opens(&arg, true, direction),
                        }
                    }
                }
            }
        }
        if inputs.len() > 1 && inputs[0] == Flow::Nothing {
            inputs.remove(0);
        }
        inputs
    }

    fn opens(&mut self, arg: &Arg, writes: bool, direction: Direction) {
        if arg.text.starts_with("/dev/tcp/") || arg.text.starts_with("/dev/udp/") {
            self.findings.sends = true;
            self.findings.needs.any_host = true;
            return self.extra(Kind::Block, format!("`{}` is a connection to another machine", arg.text));
        }
        if writes {
            self.redirected_write(arg, direction != Direction::Append);
        } else {
            self.reads(arg);
        }
    }

    fn redirected_write(&mut self, arg: &Arg, empties: bool) {
        let text = arg.text.as_str();
        if is_sink(text) {
            return;
        }
        let Some(spot) = self.spot(arg) else {
            return self.extra(Kind::Ask, "it writes to a file that can not be known before");
        };
        if empties && spot.inside && spot.target.exists() {
            self.findings.destroy(spot.target.clone());
        }
        self.written.push(text.strip_prefix("./").unwrap_or(text).to_owned());
        let verb = if empties { "overwrites" } else { "adds to" };
        let (kind, because) = self.gravity_of_writing(&spot, text, verb);
        self.findings.add(kind, because, Subject::Write(spot.target));
    }

    /// How grave it is that a command writes there.
    pub(super) fn gravity_of_writing(&mut self, spot: &Spot, shown: &str, verb: &str) -> (Kind, String) {
        let in_git = spot.target.components().any(|part| part.as_os_str().eq_ignore_ascii_case(".git"));
        if spot.target.starts_with("/dev") {
            return (Kind::Block, format!("it {verb} the device `{shown}`"));
        }
        if let Some(why) = spot.later {
            let kind = if in_git || !spot.inside { Kind::Block } else { Kind::Ask };
            return (kind, format!("it {verb} `{shown}`: {why}"));
        }
        if spot.inside {
            return (Kind::Ask, format!("it {verb} `{shown}`"));
        }
        if spot.secret.is_some()
            || spot.target.starts_with("/proc")
            || spot.target.starts_with("/sys")
            || spot.target == Path::new("/")
        {
            return (Kind::Block, format!("it {verb} `{shown}`, which is not the project's"));
        }
        self.findings.needs.writes.push(spot.target.clone());
        (Kind::Ask, format!("it {verb} `{shown}`, which is outside the project"))
    }
}

/// Where what is written goes nowhere, or to whoever looks on.
pub(super) fn is_sink(text: &str) -> bool {
    matches!(text, "/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/tty") || text.starts_with("/dev/fd/")
}
