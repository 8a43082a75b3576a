/** The longest id that an operation may have, in characters. */
export const MAX_ID_LENGTH = 128;

/** The active operations on one connection, by the client's ids. */
export type Operations = {
  /** @returns a signal that is aborted when the operation is cancelled or its connection closes. */
  begin(id: string): AbortSignal;
  /** Removes an operation that has ended or was rejected. */
  end(id: string): void;
  /** Aborts an operation's signal and removes the operation. */
  cancel(id: string): void;
  /** Cancels all operations, and every later one as it begins. */
  cancelAll(): void;
};

export function createOperations(): Operations {
  const controllers = new Map<string, AbortController>();
  let gone = false;
  const end = (id: string) => {
    controllers.delete(id);
  };
  const cancel = (id: string) => {
    controllers.get(id)?.abort();
    end(id);
  };
  return {
    begin(id) {
      const controller = new AbortController();
      if (gone) controller.abort();
      controllers.set(id, controller);
      return controller.signal;
    },
    end,
    cancel,
    cancelAll() {
      gone = true;
      for (const id of controllers.keys()) cancel(id);
    },
  };
}
