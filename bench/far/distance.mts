// A service far away: TLS in front of one on this machine, and time on the way to it.
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Duplex, Transform } from 'node:stream';
import { createServer as createTlsServer } from 'node:tls';
import { selfSigned } from '../../test/support/certificate.mts';

/** The service as it is reached from far away. */
export interface Distant {
	url: string;
	/** The environment in which its certificate is trusted. */
	env: Record<string, string>;
	close: () => Promise<void>;
}

/**
 * Puts a distance between here and a service: each byte takes half a round trip, and each new
 * connection one round trip for TCP beside those that TLS takes.
 *
 * @param url Of the service, by http.
 * @param roundTripMs ms
 */
export async function distant(url: string, roundTripMs: number): Promise<Distant> {
	const folder = await mkdtemp(join(tmpdir(), 'bench-far-'));
	const certificate = join(folder, 'certificate.pem');
	const own = selfSigned();
	await writeFile(certificate, own.cert);

	const { port, hostname } = new URL(url);
	const tls = createTlsServer(own, (near) => {
		const far = connect(Number(port), hostname);
		pass(near, far);
		pass(far, near);
	});
	const tlsPort = await listen(tls);
	const way = createServer({ pauseOnConnect: true, noDelay: true }, (near) => {
		// The system has answered the connection already.
		setTimeout(() => {
			const far = connect({ port: tlsPort, host: '127.0.0.1', noDelay: true });
			pass(near, far, roundTripMs / 2);
			pass(far, near, roundTripMs / 2);
		}, roundTripMs);
	});
	return {
		url: `https://127.0.0.1:${await listen(way)}`,
		env: { NODE_EXTRA_CA_CERTS: certificate },
		async close() {
			await Promise.all([way, tls].map((server) => once(server.close(), 'close')));
			await rm(folder, { recursive: true });
		},
	};
}

async function listen(server: Server): Promise<number> {
	await once(server.listen(0, '127.0.0.1'), 'listening');
	return (server.address() as AddressInfo).port;
}

/** Passes on what comes, each piece so many ms later, in order. */
function pass(from: Duplex, to: Duplex, ms = 0): void {
	const delay = new Transform({
		transform(piece, _encoding, done) {
			setTimeout(() => this.push(piece), ms);
			done();
		},
		flush(done) {
			setTimeout(done, ms);
		},
	});
	// A side that breaks off ends the other; one that ends lets what is on its way arrive.
	for (const [one, other] of [
		[from, to],
		[to, from],
	]) {
		one.on('error', () => other.destroy());
	}
	from.pipe(delay).pipe(to);
}
