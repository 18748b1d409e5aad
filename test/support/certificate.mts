import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A key and a certificate, for 127.0.0.1 or a host, that nobody has signed but itself. */
export function selfSigned(host?: string): { key: Buffer; cert: Buffer } {
	const directory = mkdtempSync(join(tmpdir(), 'certificate-'));
	const key = join(directory, 'key.pem');
	const cert = join(directory, 'cert.pem');
	try {
		const request = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1'];
		const altName = host === undefined ? 'IP:127.0.0.1' : `DNS:${host}`;
		const names = ['-subj', `/CN=${host ?? '127.0.0.1'}`, '-addext', `subjectAltName=${altName}`];
		const files = ['-keyout', key, '-out', cert];
		execFileSync('openssl', [...request, ...names, ...files], { stdio: 'pipe' });
		return { key: readFileSync(key), cert: readFileSync(cert) };
	} finally {
		rmSync(directory, { recursive: true, force: true });
	}
}
