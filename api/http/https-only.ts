/**
 * Header that makes browsers use only HTTPS for this host, for a year (RFC 6797). Sent on responses over HTTPS,
 * including HTTPS that a trusted proxy terminates. Without `includeSubDomains`, which would also bind other hosts of
 * the operator.
 */
export const HTTPS_ONLY = { 'Strict-Transport-Security': 'max-age=31536000' } as const;
