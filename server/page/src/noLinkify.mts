/** In place of markdown-it's finder of addresses in plain text, which the page turns off: it is 2 KB of scripts. */
export default class NoLinkify {}
