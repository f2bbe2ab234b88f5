//! Addresses that somebody else named: only those that anybody may reach.
//!
//! A page, a model or a redirect must not make us fetch from the machine itself, the network behind it or a cloud's
//! metadata service. Names are judged by what they resolve to, in the very look-up that the connection uses, so that a
//! name that changes its mind gains nothing.

#[cfg(test)]
mod tests;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, OnceLock};

use reqwest::Client;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use url::{Host, Url};

use crate::client::Kind;
use crate::{NetError, Options};

/// A client that connects to public addresses only. As with [`crate::client`], it follows no redirects: each step must be
/// checked with [`check_public`] before it is taken, because an address without a name needs no look-up.
pub fn public_client(base: &Url) -> Result<Client, NetError> {
    static CLIENTS: [OnceLock<Client>; 2] = [const { OnceLock::new() }; 2];
    let kind = Kind::of(base)?;
    let slot = &CLIENTS[usize::from(kind.tls)];
    if let Some(client) = slot.get() {
        return Ok(client.clone());
    }
    let made = kind.build_with(&Options::default(), |builder| builder.dns_resolver(Arc::new(PublicOnly)))?;
    Ok(slot.get_or_init(|| made).clone())
}

/// Whether an address may be reached by [`public_client`].
///
/// Behind a proxy it is the proxy that looks names up. A name that we can not look up ourselves is then left to it; one
/// that we can is judged all the same.
pub async fn check_public(url: &Url) -> Result<(), NetError> {
    let host = url.host().ok_or(NetError::NoHost)?;
    let refuse = || NetError::Private { host: host.to_string() };
    match &host {
        Host::Ipv4(ip) if !is_public((*ip).into()) => Err(refuse()),
        Host::Ipv6(ip) if !is_public((*ip).into()) => Err(refuse()),
        Host::Domain(name) if is_local_name(name) => Err(refuse()),
        Host::Ipv4(_) | Host::Ipv6(_) => Ok(()),
        Host::Domain(name) => match tokio::net::lookup_host((*name, 0)).await {
            Ok(mut found) => match found.any(|address| !is_public(address.ip())) {
                true => Err(refuse()),
                false => Ok(()),
            },
            Err(_) if has_proxy() => Ok(()),
            Err(_) => Err(NetError::Unknown { host: host.to_string() }),
        },
    }
}

/// Whether an address belongs to the public internet.
pub fn is_public(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => is_public_v4(ip),
        IpAddr::V6(ip) => is_public_v6(ip),
    }
}

fn is_public_v4(ip: Ipv4Addr) -> bool {
    let [a, b, c, _] = ip.octets();
    !(ip.is_private()
        || ip.is_loopback()
        || ip.is_link_local()
        || ip.is_broadcast()
        || ip.is_documentation()
        || ip.is_multicast()
        || a == 0
        || a >= 240
        || (a == 100 && (64..128).contains(&b)) // shared by carriers
        || (a == 192 && b == 0 && c == 0) // protocol assignments
        || (a == 198 && (b == 18 || b == 19))) // benchmarks
}

fn is_public_v6(ip: Ipv6Addr) -> bool {
    let parts = ip.segments();
    let embedded = |high: u16, low: u16| {
        let [[a, b], [c, d]] = [high.to_be_bytes(), low.to_be_bytes()];
        is_public_v4(Ipv4Addr::new(a, b, c, d))
    };
    match parts {
        // An IPv4 address in other clothes: mapped, compatible, translated, tunnelled.
        [0, 0, 0, 0, 0, 0xffff | 0, high, low] => embedded(high, low),
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => embedded(high, low),
        [0x2002, high, low, ..] => embedded(high, low),
        [0x64, 0xff9b, ..] | [0x2001, 0, ..] | [0x2001, 0xdb8, ..] | [0x3fff, ..] => false,
        // Of all the rest only this eighth is given out.
        [first, ..] => first & 0xe000 == 0x2000,
    }
}

/// Names that never leave a house, whatever a resolver says.
fn is_local_name(name: &str) -> bool {
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    let ends = ["localhost", "local", "internal", "home.arpa", "lan", "intranet"];
    ends.iter().any(|end| name == *end || name.strip_suffix(end).is_some_and(|rest| rest.ends_with('.')))
}

fn has_proxy() -> bool {
    ["HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "https_proxy", "http_proxy", "all_proxy"]
        .iter()
        .any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()))
}

struct PublicOnly;

impl Resolve for PublicOnly {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let public: Vec<SocketAddr> = found.filter(|address| is_public(address.ip())).collect();
            if public.is_empty() {
                return Err(NetError::Private { host: name.as_str().to_owned() }.into());
            }
            Ok(Box::new(public.into_iter()) as Addrs)
        })
    }
}
