//! Containers: what is run inside, and what of this machine is handed in.

use super::wrappers::command_at;
use super::{Call, Flow, Judge};
use crate::finding::Kind;
use crate::shell::Arg;

const DOCKER_VALUES: [&str; 46] = [
    "-e",
    "--env",
    "--env-file",
    "-v",
    "--volume",
    "--mount",
    "-p",
    "--publish",
    "--name",
    "-w",
    "--workdir",
    "-u",
    "--user",
    "--network",
    "--net",
    "-m",
    "--memory",
    "--cpus",
    "--entrypoint",
    "-l",
    "--label",
    "--platform",
    "-h",
    "--hostname",
    "--add-host",
    "--device",
    "--cap-add",
    "--cap-drop",
    "--security-opt",
    "--pid",
    "--ipc",
    "--uts",
    "--tmpfs",
    "--ulimit",
    "--restart",
    "--log-driver",
    "--gpus",
    "--shm-size",
    "--volumes-from",
    "--link",
    "--dns",
    "--expose",
    "--pull",
    "--runtime",
    "--userns",
    "--cgroupns",
];

impl Judge<'_> {
    pub(super) fn container(&mut self, call: &Call<'_>) -> Option<Flow> {
        match call.name {
            "docker" | "podman" | "nerdctl" | "docker-compose" | "podman-compose" => self.docker(call),
            "kubectl" | "oc" | "k" | "k3s" => self.kubectl(call),
            "ansible" | "lxc" | "incus" | "vagrant" | "multipass" | "limactl" => {
                self.add(Kind::Ask, "it acts on other machines", call);
                call.args.iter().for_each(|arg| self.maybe_script(&arg.text));
                Some(Flow::Data)
            }
            _ => None,
        }
    }

    fn docker(&mut self, call: &Call<'_>) -> Option<Flow> {
        const GLOBALS: [&str; 8] =
            ["-H", "--host", "--context", "-c", "--config", "-l", "--log-level", "--tlscacert"];
        const COMPOSE: [&str; 8] = [
            "-f",
            "--file",
            "-p",
            "--project-name",
            "--profile",
            "--env-file",
            "--project-directory",
            "--parallel",
        ];
        let mut at = command_at(call.args, &GLOBALS, 0);
        let word = |at: usize| call.args.get(at).map(|arg| arg.text.as_str()).unwrap_or_default();
        let compose = call.name.ends_with("compose") || word(at) == "compose";
        if compose {
            at = at + usize::from(word(at) == "compose");
            at += command_at(&call.args[at.min(call.args.len())..], &COMPOSE, 0);
        }
        let sub = if word(at) == "container" { at + 1 } else { at };
        let rest = call.args.get(sub + 1..).unwrap_or_default();
        match word(sub) {
            "run" | "create" => {
                self.handed_in(call, rest);
                self.add(Kind::Ask, "it runs a container", call);
                let start = command_at(rest, &DOCKER_VALUES, 1);
                self.maybe_run(&rest[start..]);
            }
            "exec" => {
                self.handed_in(call, rest);
                self.add(Kind::Ask, "it runs a command in a container", call);
                let start = command_at(rest, &DOCKER_VALUES, 1);
                self.maybe_run(&rest[start..]);
            }
            "cp" => {
                rest.iter().filter(|arg| !arg.text.contains(':')).for_each(|arg| self.reads(arg));
                self.add(Kind::Ask, "it copies to or from a container", call);
            }
            "down" if rest.iter().any(|arg| matches!(arg.text.as_str(), "-v" | "--volumes" | "--rmi")) => {
                self.add(Kind::Block, "it deletes the data of containers", call);
            }
            _ if compose => {
                let looks = matches!(
                    word(sub),
                    "ps" | "logs"
                        | "config"
                        | "images"
                        | "top"
                        | "port"
                        | "version"
                        | "ls"
                        | "events"
                        | "stats"
                );
                let kind = if looks { Kind::Look } else { Kind::Ask };
                let kind = if matches!(word(sub), "rm") && rest.iter().any(|arg| arg.text.contains('v')) {
                    Kind::Block
                } else {
                    kind
                };
                self.add(kind, if looks { "it looks at containers" } else { "it changes containers" }, call);
            }
            _ => return None,
        }
        Some(Flow::Data)
    }

    /// Folders and rights of this machine that a container gets.
    fn handed_in(&mut self, call: &Call<'_>, rest: &[Arg]) {
        for (at, arg) in rest.iter().enumerate() {
            let text = arg.text.as_str();
            let (flag, value) = match text.split_once('=') {
                Some((flag, value)) if flag.starts_with('-') => (flag, Some(value)),
                _ => (text, rest.get(at + 1).map(|arg| arg.text.as_str())),
            };
            let value = value.unwrap_or_default();
            let grave = match flag {
                "--privileged" => true,
                "--pid" | "--ipc" | "--uts" | "--userns" | "--network" | "--net" => value == "host",
                "--cap-add" | "--device" | "--security-opt" | "--volumes-from" => {
                    !value.starts_with("no-new-privileges")
                }
                "-v" | "--volume" => self.hands_in(value.split(':').next().unwrap_or_default()),
                "--mount" => {
                    let source = value
                        .split(',')
                        .find_map(|part| part.strip_prefix("source=").or_else(|| part.strip_prefix("src=")));
                    self.hands_in(source.unwrap_or_default())
                }
                _ if text.starts_with("-v/") || text.starts_with("-v~") => {
                    self.hands_in(text[2..].split(':').next().unwrap_or_default())
                }
                _ => false,
            };
            if grave {
                self.add(Kind::Block, "it gives a container more of this machine than the project", call);
            }
        }
    }

    fn hands_in(&mut self, source: &str) -> bool {
        let path = source.starts_with(['/', '~', '.', crate::UNKNOWN]);
        path && self.spot(&Arg::plain(source)).is_none_or(|spot| !spot.inside)
    }

    fn kubectl(&mut self, call: &Call<'_>) -> Option<Flow> {
        let words: Vec<&str> = call.args.iter().map(|arg| arg.text.as_str()).collect();
        if let Some(at) = words.iter().position(|word| *word == "exec" || *word == "run") {
            let behind = words.iter().position(|word| *word == "--").map_or(at + 1, |dashes| dashes + 1);
            self.add(Kind::Ask, "it runs a command in a cluster", call);
            self.maybe_run(&call.args[behind.min(words.len())..]);
            return Some(Flow::Data);
        }
        let secret = words.iter().any(|word| {
            let word = word.trim_end_matches('s');
            word == "secret"
                || word.starts_with("secret/")
                || word.starts_with("secrets/")
                || word.contains(",secret")
        });
        if secret && words.iter().any(|word| matches!(*word, "get" | "describe")) {
            self.findings.secret = true;
            self.add(Kind::Ask, "it shows secrets of a cluster", call);
            return Some(Flow::Data);
        }
        None
    }
}
