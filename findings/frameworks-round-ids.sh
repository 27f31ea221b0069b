#!/usr/bin/env bash
# The usual way of NestJS, Fastify, Elysia and LoopBack to take a number from the path rounds it beyond 2^53, and says
# nothing: a DELETE of 9007199254740993 removes 9007199254740992. An id of int64 needs a text or a bigint in the handler.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts fastify@5.12.8 elysia@1.4.30 @elysiajs/node@1.4.5 \
  @nestjs/core@12.5.1 @nestjs/common@12.5.1 @nestjs/platform-express@12.5.1 reflect-metadata@0.2.2 rxjs@7.8.2 \
  @loopback/rest@15.0.16 >/dev/null 2>&1
cat >try.mjs <<'END'
import 'reflect-metadata';
import { createServer } from 'node:net';
import { node } from '@elysiajs/node';
import { del, param, RestApplication } from '@loopback/rest';
import { Controller, Delete, Module, Param, ParseIntPipe } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Elysia, t } from 'elysia';
import Fastify from 'fastify';
const freePort = () =>
  new Promise((done) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => done(port));
    });
  });
const neighbour = 9007199254740992;
const answer = (id) => ({ removed: id === neighbour ? 'its neighbour' : String(id) });
const decorate = (decorators, target, name) => {
  const property = Object.getOwnPropertyDescriptor(target, name);
  for (const decorator of decorators) decorator(target, name, property);
};

const fastify = Fastify();
const params = { type: 'object', properties: { id: { type: 'integer' } } };
fastify.delete('/pets/:id', { schema: { params } }, ({ params: { id } }) => answer(id));

class Pets {
  remove(id) {
    return answer(id);
  }
}
Param('id', ParseIntPipe)(Pets.prototype, 'remove', 0);
decorate([Delete(':id')], Pets.prototype, 'remove');
Controller('pets')(Pets);
class Shop {}
Module({ controllers: [Pets] })(Shop);
const nest = await NestFactory.create(Shop, { logger: false });

const elysia = new Elysia({ adapter: node() });
elysia.delete('/pets/:id', ({ params: { id } }) => answer(id), { params: t.Object({ id: t.Numeric() }) });

class Removal {
  remove(id) {
    return answer(id);
  }
}
param.path.number('id')(Removal.prototype, 'remove', 0);
decorate([del('/pets/{id}')], Removal.prototype, 'remove');
const loopback = new RestApplication({ rest: { port: 0, host: '127.0.0.1' } });
loopback.controller(Removal);

const ask = async (name, base) => {
  const response = await fetch(`${base}/pets/9007199254740993`, { method: 'DELETE' });
  console.log(`${name}: ${response.status} ${response.ok ? (await response.json()).removed : ''}`);
};
await ask('Fastify', await fastify.listen({ port: 0, host: '127.0.0.1' }));
await nest.listen(0, '127.0.0.1');
await ask('NestJS', await nest.getUrl());
const port = await freePort();
await new Promise((done) => elysia.listen({ port, hostname: '127.0.0.1' }, done));
await ask('Elysia', `http://127.0.0.1:${port}`);
await loopback.start();
await ask('LoopBack', loopback.restServer.url);
process.exit();
END
for package in fastify @nestjs/core elysia @loopback/rest; do
  echo "$package $(node -p "require('./package-lock.json').packages['node_modules/$package'].version")"
done
seen=$(node try.mjs)
echo "$seen"
[ "$seen" = 'Fastify: 200 its neighbour
NestJS: 200 its neighbour
Elysia: 200 its neighbour
LoopBack: 200 its neighbour' ]
