/** The longest id that an operation may have, in characters. */
export const MAX_ID_LENGTH = 128;

/** The operations under way on one connection, by the ids that its client gave them. */
export type Operations = {
  /** @returns a signal that is aborted when the operation is cancelled, or its connection has gone. */
  begin(id: string): AbortSignal;
  /** To be told of each that ends or is refused: it is forgotten. */
  end(id: string): void;
  /** Its client wants no more of it: that is its end, too. */
  cancel(id: string): void;
  /** Cancels all, and all that is to come. */
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
