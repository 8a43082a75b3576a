/** The documents that relay-compiler compiles. Nothing runs this file: `relay.ts` imports the compiled documents. */
import { graphql } from 'relay-runtime';

graphql`
  mutation relayDocumentsChatMutation($botId: ID!, $input: ChatInput!) {
    chat(botId: $botId, input: $input) {
      response
      run {
        id
        status
      }
    }
  }
`;

graphql`
  query relayDocumentsRunsQuery($botId: ID!, $first: Int!, $after: String) {
    runs(botId: $botId, first: $first, after: $after) {
      edges {
        cursor
        node {
          id
          status
          kind
        }
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
`;

graphql`
  subscription relayDocumentsChatSubscription($botId: ID!, $input: ChatInput!) {
    chat(botId: $botId, input: $input) {
      __typename
      ... on TextDelta {
        delta
      }
    }
  }
`;
