/**
 * Replaces markdown-it's detection of URLs in plain text, which the page disables. It saves 2 KB of
 * scripts.
 */
export default class NoLinkify {}
