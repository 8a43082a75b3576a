import { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { createSocketReads } from '../../src/transport/socket-reads.ts';

/** Sockets that are read, and the order in which they are read again. */
function start() {
  const reads = createSocketReads();
  const resumed: string[] = [];
  const open = (owner: string | undefined, name: string) => {
    const socket = new Socket();
    socket.resume();
    if (owner !== undefined) reads.assign(socket, owner);
    const resume = socket.resume.bind(socket);
    socket.resume = () => {
      resumed.push(name);
      return resume();
    };
    return socket;
  };
  return { ...reads, open, resumed };
}

describe('a socket with a body in small pieces', () => {
  test('waits for a turn, and the other sockets of its owner too', async () => {
    const { open, slow, resumed } = start();
    const slowed = open('one', 'slow');
    const silent = open('one', 'silent');
    const other = open('other', 'other');
    slow(slowed);
    expect([slowed, silent, other].map((socket) => socket.isPaused())).toEqual([true, true, false]);
    await expect.poll(() => resumed).toEqual(['slow', 'silent']);
    expect([slowed, silent].map((socket) => socket.isPaused())).toEqual([false, false]);
  });

  test('waits again after its turn if it carries more of them', async () => {
    const { open, slow, resumed } = start();
    const one = open('one', 'one');
    const other = open('one', 'other');
    one.on('resume', () => {
      if (resumed.length < 5) slow(one);
    });
    slow(one);
    await expect.poll(() => one.isPaused()).toBe(false);
    // The others of the owner wait once, not at each of its turns.
    expect(resumed.filter((name) => name === 'other')).toHaveLength(1);
    expect(other.isPaused()).toBe(false);
  });

  test('has its turn after the sockets of other owners', async () => {
    const { open, slow, resumed } = start();
    const many = ['a1', 'a2', 'a3'].map((name) => open('a', name));
    const few = open('b', 'b1');
    for (const socket of many) slow(socket);
    slow(few);
    await expect.poll(() => resumed).toEqual(['a1', 'b1', 'a2', 'a3']);
  });

  test('waits alone if it belongs to no owner, such as the connection of a proxy', async () => {
    const { open, slow, resumed } = start();
    const proxy = open(undefined, 'proxy');
    const other = open(undefined, 'other');
    slow(proxy);
    expect(other.isPaused()).toBe(false);
    await expect.poll(() => resumed).toEqual(['proxy']);
  });

  test('makes new sockets of its network wait, also when it has another owner by then', async () => {
    const { open, slow, assign, resumed } = start();
    const slowed = open('network', 'slow');
    assign(slowed, 'account');
    slow(slowed);
    const next = open('network', 'next');
    const other = open('other', 'other');
    await expect.poll(() => resumed).toEqual(['slow', 'next']);
    expect([next, other].map((socket) => socket.isPaused())).toEqual([false, false]);
  });
});

describe('a paused socket', () => {
  test('is not read in a turn, but when it is resumed', async () => {
    const { open, slow, pause, resume, resumed } = start();
    const held = open('one', 'held');
    pause(held);
    slow(open('one', 'slow'));
    await expect.poll(() => resumed).toEqual(['slow']);
    expect(held.isPaused()).toBe(true);
    resume(held);
    await expect.poll(() => resumed).toEqual(['slow', 'held']);
  });

  test('that waits for a turn is not read before it', async () => {
    const { open, slow, pause, resume, resumed } = start();
    const held = open('one', 'held');
    pause(held);
    slow(open('one', 'slow'));
    resume(held);
    await expect.poll(() => resumed).toEqual(['slow', 'held']);
  });

  test('is read again when it is released', async () => {
    const { open, slow, release, resumed } = start();
    const upgraded = open('one', 'upgraded');
    slow(upgraded);
    release(upgraded);
    await expect.poll(() => resumed).toEqual(['upgraded']);
  });
});
