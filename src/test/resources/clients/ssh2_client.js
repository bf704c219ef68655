// What an editor that is built on npm's ssh2 does with a node, as open-remote-ssh does it: it asks for the method none
// first, runs one long script that is encoded in a command, forwards ports and sockets, and copies by sftp.
//   ssh2_client.js PORT USER KEY FOLDER_OF_MODULES
// Prints "all" at the end; anything else is a failure.
const assert = require('assert');
const crypto = require('crypto');
const fs = require('fs');
const [port, user, key, modules] = process.argv.slice(2);
const { Client } = require(modules + '/ssh2');

function connected() {
  return new Promise((resolve, reject) => {
    const client = new Client();
    client.on('ready', () => resolve(client)).on('error', reject);
    client.connect({ host: '127.0.0.1', port: +port, username: user,
      authHandler: ['none', { type: 'publickey', username: user, key: fs.readFileSync(key) }] });
  });
}

const later = (call) => new Promise((resolve, reject) => call((error, value) => error ? reject(error) : resolve(value)));

async function run(client, command, options = {}, input = '') {
  const stream = await later((done) => client.exec(command, options, done));
  const out = [], err = [];
  stream.on('data', (bytes) => out.push(bytes));
  stream.stderr.on('data', (bytes) => err.push(bytes));
  const end = new Promise((resolve) => stream.on('close', (code, signal) => resolve({ code, signal })));
  stream.end(input);
  return { ...await end, out: Buffer.concat(out), err: Buffer.concat(err).toString() };
}

async function exchange(stream, bytes) {
  const back = [];
  stream.on('data', (part) => back.push(part));
  const end = new Promise((resolve) => stream.on('end', resolve));
  stream.end(bytes);
  await end;
  return Buffer.concat(back);
}

const ECHO = `import os, socket, sys
s = socket.socket(socket.AF_UNIX) if len(sys.argv) > 1 else socket.socket()
s.bind(sys.argv[1] if len(sys.argv) > 1 else ('127.0.0.1', 0)); s.listen()
print(s.getsockname() if len(sys.argv) > 1 else s.getsockname()[1], flush=True)
c, _ = s.accept()
while True:
    b = c.recv(65536)
    if not b: break
    c.sendall(b)
c.close()`;

async function listening(client, argument) {
  const stream = await later((done) => client.exec(`python3 -c "$(echo ${Buffer.from(ECHO).toString('base64')} | base64 -d)" ${argument}`, done));
  return new Promise((resolve) => stream.on('data', (line) => resolve(line.toString().trim())));
}

async function main() {
  const client = await connected();
  const first = await run(client, 'echo out; echo err >&2; exit 7');
  assert.deepStrictEqual([first.code, first.out.toString(), first.err], [7, 'out\n', 'err\n']);
  assert.strictEqual((await run(client, 'kill -KILL $$')).signal, 'SIGKILL');

  const script = '# '.padEnd(40000, 'x') + '\necho "$0 ran ${#BASH_VERSION}"; exit 3\n';
  const long = await run(client, `echo ${Buffer.from(script).toString('base64')} | base64 -d | bash -l`);
  assert.strictEqual(long.code, 3);
  assert.match(long.out.toString(), /^bash ran \d+\n$/m);

  const data = crypto.randomBytes(2_000_000);
  assert.ok((await run(client, 'cat', {}, data)).out.equals(data));
  const sized = await run(client, 'stty size', { pty: { rows: 33, cols: 111 } });
  assert.strictEqual(sized.out.toString().trim(), '33 111');
  await Promise.all(Array.from({ length: 60 }, async (_, i) =>
    assert.strictEqual((await run(client, `echo ${i}`)).out.toString(), `${i}\n`)));

  const there = await listening(client, '');
  const tcp = await later((done) => client.forwardOut('127.0.0.1', 1, '127.0.0.1', +there, done));
  assert.ok((await exchange(tcp, data)).equals(data));
  const folder = (await run(client, 'mktemp -d')).out.toString().trim();
  await listening(client, `${folder}/s`);
  const unix = await later((done) => client.openssh_forwardOutStreamLocal(`${folder}/s`, done));
  assert.ok((await exchange(unix, data)).equals(data));

  const sftp = await later((done) => client.sftp(done));
  await later((done) => sftp.writeFile(`${folder}/f`, data, done));
  assert.ok((await later((done) => sftp.readFile(`${folder}/f`, done))).equals(data));
  assert.strictEqual((await later((done) => sftp.stat(`${folder}/f`, done))).size, data.length);
  await run(client, `rm -r ${folder}`);
  client.end();
  console.log('all');
}

main().catch((error) => { console.error(error); process.exit(1); });
