//! Where an address leads.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

#[cfg(test)]
mod tests;

use crate::finding::{Findings, Kind};
use crate::rules::Subject;

/// What can be said of a host by its name alone. What it resolves to is checked again when connecting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HostKind {
    Public(String),
    /// This machine, the local network, or a cloud's metadata service.
    Private(String),
    Unknown,
}

/// A fetch by a tool.
pub(crate) fn fetch(url: &str, findings: &mut Findings) {
    match host_of(url) {
        HostKind::Public(name) => {
            findings.host(&name);
            findings.add(Kind::Fetch, format!("it reads from `{name}`"), Subject::Host(name));
        }
        HostKind::Private(name) => {
            findings.host(&name);
            let kind = if is_metadata(&name) { Kind::Block } else { Kind::Ask };
            findings.add(kind, format!("`{name}` is this machine or a private network"), Subject::Host(name));
        }
        HostKind::Unknown => {
            findings.needs.any_host = true;
            findings.add(Kind::Ask, "the address names no host that can be read", Subject::Call);
        }
    }
}

/// The host of an address, with or without a scheme.
pub(crate) fn host_of(url: &str) -> HostKind {
    if url.contains(crate::UNKNOWN) {
        return HostKind::Unknown;
    }
    let (scheme, rest) = match url.split_once("://") {
        Some((scheme, rest)) => (Some(scheme.to_ascii_lowercase()), rest),
        None => (None, url),
    };
    if scheme.as_deref().is_some_and(|scheme| {
        !matches!(scheme, "http" | "https" | "ftp" | "ftps" | "ws" | "wss" | "git" | "ssh")
    }) {
        return HostKind::Unknown;
    }
    // What browsers and `curl` take for the end of the host, backslash included.
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    let authority = authority.rsplit('@').next().unwrap_or_default();
    let name = match authority.strip_prefix('[') {
        Some(v6) => v6.split(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    };
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    if name.is_empty()
        || name.contains(|c: char| c.is_whitespace() || c.is_control() || "*?{}$`'\"".contains(c))
    {
        return HostKind::Unknown;
    }
    if is_private(&name) { HostKind::Private(name) } else { HostKind::Public(name) }
}

fn is_private(name: &str) -> bool {
    if let Some(address) = address(name) {
        return is_private_address(address);
    }
    const ENDINGS: [&str; 8] =
        [".local", ".localhost", ".internal", ".lan", ".home", ".corp", ".intranet", ".home.arpa"];
    name == "localhost" || !name.contains('.') || ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// As the C library reads addresses: one number, octal and hexadecimal parts, and fewer than four of them.
fn address(name: &str) -> Option<IpAddr> {
    if let Ok(address) = name.parse::<IpAddr>() {
        return Some(address);
    }
    let parts: Vec<&str> = name.split('.').collect();
    if parts.len() > 4 {
        return None;
    }
    let number = |part: &str| -> Option<u32> {
        if let Some(hex) = part.strip_prefix("0x") {
            return u32::from_str_radix(hex, 16).ok();
        }
        match part.strip_prefix('0').filter(|rest| !rest.is_empty()) {
            Some(octal) => u32::from_str_radix(octal, 8).ok(),
            None => part.parse().ok(),
        }
    };
    let numbers: Vec<u32> = parts.iter().map(|part| number(part)).collect::<Option<_>>()?;
    let (last, head) = numbers.split_last()?;
    let mut value: u32 = *last;
    for (index, part) in head.iter().enumerate() {
        value |= part.checked_shl(24 - 8 * u32::try_from(index).ok()?)?;
    }
    Some(IpAddr::V4(Ipv4Addr::from(value)))
}

fn is_private_address(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => {
            let [a, b, ..] = v4.octets();
            v4.is_loopback()
                || v4.is_private()
                || v4.is_link_local()
                || v4.is_unspecified()
                || v4.is_broadcast()
                || v4.is_multicast()
                || a == 0
                || (a == 100 && (64..128).contains(&b))
                || (a == 198 && (b & 0xfe) == 18)
        }
        IpAddr::V6(v6) => match v6.to_ipv4_mapped() {
            Some(v4) => is_private_address(IpAddr::V4(v4)),
            None => {
                v6.is_loopback()
                    || v6.is_unspecified()
                    || v6.is_multicast()
                    || v6.is_unique_local()
                    || v6.is_unicast_link_local()
                    || v6 == Ipv6Addr::LOCALHOST
            }
        },
    }
}

/// Services that hand out a machine's own credentials.
pub(crate) fn is_metadata(name: &str) -> bool {
    matches!(name, "metadata.google.internal" | "metadata" | "instance-data" | "fd00:ec2::254")
        || matches!(address(name), Some(IpAddr::V4(v4)) if v4.octets() == [169, 254, 169, 254] || v4.octets() == [169, 254, 170, 2])
}
