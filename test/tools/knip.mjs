{
	"$schema": "https://unpkg.com/knip@6/schema.json",
	"entry": [
		"{nodes,credentials}/**/*.{node,credentials}.ts",
		"gulpfile.js",

		"server/page/src/theme.mts",
		"test/n8n/suites/*.mts",
		"test/reliability/matrix.mts",
		"test/sandbox/read-ogg.mts",
		"test/soak/{load,*.soak}.mts",
		"test/support/checkPatterns.mts",
		"test/page/*.web.mts",
		"test/support/{commandHost,failingDisk,heldDisk,holdToContractPreload,hostedServer}.mts",
		"test/support/{peakMemory,shortBackoff,shortTimeouts}.mts"
	],
	"project": [
		"{nodes,credentials,lifelog,server,sandbox,demo,bench,check-archive,test}/**/*.{ts,mts}",
		"*.{js,mjs}",
		"server/*.cjs",
		"server/page/src/**/*.{mts,tsx}"
	],
	"ignoreExportsUsedInFile": { "interface": true, "type": true },
	"ignoreUnresolved": [".*/api\\.ts"],
	"ignoreDependencies": ["n8n-nodes-base"],
	"ignoreBinaries": [
		"ffmpeg",
		"mkfifo",
		"mount",
		"openssl",
		"opusinfo",
		"prlimit",
		"systemd-analyze",
		"umount"
	]
}
