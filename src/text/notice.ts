/** The beginning of a message to a model that the server wrote, not a user. */
export const NOTICE = 'Notice of the server, not a message of the user.';
