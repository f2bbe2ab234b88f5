use std::path::Path;

use super::{Home, HomeError};

fn home(variables: &[(&str, &str)]) -> Result<Home, HomeError> {
    Home::from_variables(|name| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| value.into()))
}

#[test]
fn covey_home_moves_everything() {
    let home = home(&[("COVEY_HOME", "/c"), ("HOME", "/h"), ("XDG_CONFIG_HOME", "/x")]).unwrap();
    assert_eq!(home, Home::at("/c"));
    assert_eq!(home.config_file(), Path::new("/c/config.toml"));
    assert_eq!(home.sessions_dir(), Path::new("/c/sessions"));
    assert_eq!(home.cache_dir(), Path::new("/c/cache"));
}

#[test]
fn a_relative_covey_home_is_made_absolute() {
    let home = home(&[("COVEY_HOME", "there")]).unwrap();
    assert_eq!(home.data_dir(), std::env::current_dir().unwrap().join("there"));
}

#[test]
fn without_covey_home_the_xdg_folders_are_used() {
    let home = home(&[("HOME", "/h"), ("XDG_DATA_HOME", "/data"), ("COVEY_HOME", "")]).unwrap();
    assert_eq!(home.config_dir(), Path::new("/h/.config/covey"));
    assert_eq!(home.data_dir(), Path::new("/data/covey"));
    assert_eq!(home.cache_dir(), Path::new("/h/.cache/covey"));
}

#[test]
fn relative_xdg_folders_are_ignored() {
    let home = home(&[("HOME", "/h"), ("XDG_CONFIG_HOME", "x")]).unwrap();
    assert_eq!(home.config_dir(), Path::new("/h/.config/covey"));
}

#[test]
fn no_home_at_all_is_an_error_with_a_hint() {
    let error = home(&[("HOME", "")]).unwrap_err();
    assert_eq!(error.to_string(), "there is no home folder: neither `COVEY_HOME` nor `HOME` is set");
    assert!(error.hint().unwrap().contains("COVEY_HOME"));
}
