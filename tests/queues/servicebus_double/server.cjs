"use strict";

// A double of Azure Service Bus: as much of it, over AMQP 1.0, as a queue without sessions needs.
//
// It prints `listening <port>` when it can be used. A line on its input is a command: `restart` breaks every connection
// and listens again, with all messages kept. A queue is made by whoever opens it; there is none below `missing.`, nor
// below `deleted.`, for which a token is still taken. The lock duration of a queue stands in its name: two seconds in
// `lock2.orders`, a minute where no number is given.

const { randomBytes } = require("crypto");
const readline = require("readline");
const rhea = require("rhea");

const BATCH_FORMAT = 0x80013700;
const DEAD_LETTERS = "/$DeadLetterQueue";
const MANAGEMENT = "/$management";
const LONGEST_TIMER = 2 ** 31 - 1;
const LOCK_LOST = { condition: "com.microsoft:message-lock-lost", description: "The lock supplied is invalid." };

class Queue {
  constructor(name) {
    const [, seconds] = name.match(/^lock(\d+)\./) ?? [];
    this.lockMilliseconds = 1000 * (seconds ?? 60);
    this.name = name;
    this.ready = [];
    this.locked = new Map();
    this.receivers = new Set();
  }

  // `due`: milliseconds since 1970, or nothing for at once.
  put(message, due) {
    const entry = { message, number: ++sequence, deliveries: 0 };
    this.later(entry, due ?? 0);
    return entry.number;
  }

  later(entry, due) {
    const wait = due - Date.now();
    if (wait > 0) setTimeout(() => this.later(entry, due), Math.min(wait, LONGEST_TIMER)).unref();
    else this.add(entry);
  }

  add(entry) {
    this.ready.push(entry);
    setImmediate(() => this.serve());
  }

  serve() {
    for (const receiver of this.receivers) {
      while (this.ready.length && receiver.handed < receiver.limit) this.deliver(this.ready.shift(), receiver);
    }
  }

  deliver(entry, receiver) {
    const token = randomBytes(16);
    this.lock(token.toString("hex"), entry);
    const message = { ...annotated(entry), delivery_count: entry.deliveries++ };
    message.message_annotations["x-opt-locked-until"] = rhea.types.wrap_timestamp(entry.lockedUntil);
    receiver.handed++;
    receiver.send(message, token).token = token.toString("hex");
  }

  lock(token, entry) {
    clearTimeout(entry.expiry);
    entry.lockedUntil = Date.now() + this.lockMilliseconds;
    entry.expiry = setTimeout(() => this.settle(token, "abandoned"), this.lockMilliseconds).unref();
    this.locked.set(token, entry);
  }

  // Whether the lock was still held.
  settle(token, disposition, reason) {
    const entry = this.locked.get(token);
    if (!entry) return false;
    clearTimeout(entry.expiry);
    this.locked.delete(token);
    if (disposition === "abandoned") this.add(entry);
    if (disposition === "suspended") {
      const properties = { ...entry.message.application_properties, DeadLetterReason: reason };
      queue(this.name + DEAD_LETTERS).put({ ...entry.message, application_properties: properties });
    }
    return true;
  }

  renew(token) {
    const entry = this.locked.get(token);
    if (entry) this.lock(token, entry);
    return entry?.lockedUntil;
  }
}

let sequence = 0;
const queues = new Map();

function queue(name) {
  if (!queues.has(name)) queues.set(name, new Queue(name));
  return queues.get(name);
}

function annotated(entry) {
  const annotations = {
    ...entry.message.message_annotations,
    "x-opt-sequence-number": rhea.types.wrap_long(entry.number),
    "x-opt-enqueued-time": rhea.types.wrap_timestamp(Date.now()),
  };
  return { ...entry.message, message_annotations: annotations };
}

// Management: requests by message, answered on the link that the client opened for answers.

const OPERATIONS = {
  "com.microsoft:schedule-message": (target, request) => {
    const numbers = request.messages.map(({ message }) => {
      const scheduled = rhea.message.decode(Buffer.from(message));
      return target.put(scheduled, Number(scheduled.message_annotations["x-opt-scheduled-enqueue-time"]));
    });
    return { "sequence-numbers": rhea.types.wrap_array(numbers, 0x81) };
  },
  "com.microsoft:peek-message": (target, request) => {
    const seen = target.ready.slice(0, request["message-count"]);
    return seen.length && { messages: seen.map((entry) => ({ message: rhea.message.encode(annotated(entry)) })) };
  },
  "com.microsoft:renew-lock": (target, request) => {
    const until = request["lock-tokens"].map((token) => target.renew(tag(token)));
    return until.every(Boolean) && { expirations: rhea.types.wrap_array(until, 0x83) };
  },
  "com.microsoft:update-disposition": (target, request) => {
    const reason = request["deadletter-reason"];
    const held = request["lock-tokens"].map((token) => target.settle(tag(token), request["disposition-status"], reason));
    return held.every(Boolean) && {};
  },
};

// A lock token is the delivery tag, read as a UUID whose first three fields are little-endian.
function tag(token) {
  const bytes = Buffer.from(token);
  bytes.subarray(0, 4).reverse();
  bytes.subarray(4, 6).reverse();
  bytes.subarray(6, 8).reverse();
  return bytes.toString("hex");
}

function managed(target, operation, request) {
  const body = OPERATIONS[operation]?.(target, request);
  if (body) return { status: 200, body };
  if (body === 0) return { status: 204 };
  return body === undefined ? { status: 501 } : { status: 410, condition: LOCK_LOST.condition };
}

function answer(connection, request, address, { status, body, condition }) {
  const code = rhea.types.wrap_int(status);
  const properties = { "status-code": code, statusCode: code };
  if (condition) properties.errorCondition = rhea.types.wrap_symbol(condition);
  const message = { correlation_id: request.message_id, application_properties: properties, body };
  // Sent as settled: rhea keeps what follows a delivery that nobody settles.
  connection.answering.get(address).send(message).settled = true;
}

// Links. The broker's sender is the client's receiver.

const container = rhea.create_container({ id: "servicebus-double" });

function path(terminus) {
  const address = String(terminus?.address ?? "");
  return (address.includes("://") ? new URL(address.replace(/^\w+:/, "http:")).pathname : address).replace(/^\//, "");
}

// The answer to an attach without source or target says that a refusal follows (AMQP 1.0 §2.6.3).
function refused(link, address) {
  if (!address.startsWith("deleted.")) return false;
  link.close({ condition: "amqp:not-found", description: "The messaging entity could not be found." });
  return true;
}

container.on("sender_open", ({ sender, connection }) => {
  const address = path(sender.source);
  if (refused(sender, address)) return;
  sender.set_source({ address: sender.source.address });
  sender.set_target(sender.target ?? {});
  if (address === "$cbs" || address.endsWith(MANAGEMENT)) (connection.answering ??= new Map()).set(address, sender);
  else {
    Object.assign(sender, { queue: address, handed: 0, limit: 0 });
    queue(address).receivers.add(sender);
  }
});

container.on("receiver_open", ({ receiver }) => {
  if (refused(receiver, path(receiver.target))) return;
  receiver.set_target({ address: receiver.target.address });
  receiver.set_source(receiver.source ?? {});
});

// What was handed to rhea is subtracted from the credit only when it leaves, so both are counted here.
container.on("sender_flow", ({ sender }) => {
  if (!sender.queue) return;
  sender.limit = sender.delivery_count + sender.credit;
  queue(sender.queue).serve();
});

function leave(sender) {
  if (sender.queue) queue(sender.queue).receivers.delete(sender);
}

container.on("sender_close", ({ sender }) => leave(sender));

container.on("message", ({ message, receiver, connection, format }) => {
  const address = path(receiver.target);
  if (address === "$cbs") {
    const missing = path({ address: message.application_properties.name }).startsWith("missing.");
    return answer(connection, message, address, { status: missing ? 404 : 202 });
  }
  if (address.endsWith(MANAGEMENT)) {
    const target = queue(address.slice(0, -MANAGEMENT.length));
    const operation = String(message.application_properties.operation);
    return answer(connection, message, address, managed(target, operation, message.body));
  }
  if (format !== BATCH_FORMAT) return void queue(address).put(message);
  const parts = [rhea.message.decode(message).body.content].flat();
  for (const part of parts) queue(address).put(rhea.message.decode(part));
});

// The client waits for the outcome it asked for, or for the reason why not.
function settled(event, disposition, outcome) {
  container.on(event, ({ sender, delivery }) => {
    if (!sender.queue) return;
    const reason = delivery.remote_state?.error?.info?.DeadLetterReason;
    const held = queue(sender.queue).settle(delivery.token, disposition, reason);
    delivery.update(true, (held ? outcome() : rhea.message.rejected({ error: LOCK_LOST })).described());
    // The SDK never says that it is done as well, and rhea would keep the delivery for ever.
    delivery.remote_settled = true;
  });
}

settled("accepted", "completed", () => rhea.message.accepted());
settled("modified", "abandoned", () => rhea.message.modified({}));
settled("released", "abandoned", () => rhea.message.released());
settled("rejected", "suspended", () => rhea.message.rejected({}));

// The socket.

container.sasl_server_mechanisms.enable_anonymous();
container.sasl_server_mechanisms.MSSBCBS = () => ({
  outcome: undefined,
  start() {
    this.outcome = true;
  },
});

let server;
let port = 0;
const sockets = new Set();

function listen() {
  server = container.listen({
    host: "127.0.0.1",
    port,
    receiver_options: { autoaccept: true, credit_window: 10_000 },
    sender_options: { autosettle: false, treat_modified_as_released: false },
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  server.on("listening", () => {
    port = server.address().port;
    console.log(`listening ${port}`);
  });
}

function restart() {
  for (const socket of sockets) socket.destroy();
  server.close(listen);
}

container.on("disconnected", ({ connection }) => {
  for (const { receivers } of queues.values()) {
    for (const sender of receivers) if (sender.connection === connection) receivers.delete(sender);
  }
});

readline
  .createInterface({ input: process.stdin })
  .on("line", (line) => line === "restart" && restart())
  .on("close", () => process.exit());
listen();
