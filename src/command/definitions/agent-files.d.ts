/** The bundler turns definitions into texts. */
declare module '*.agent' {
  const source: string;
  export default source;
}
