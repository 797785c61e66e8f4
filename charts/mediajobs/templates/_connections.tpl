{{/*
Values of Secrets that this chart writes and pods read. Every pod has their hash, so that a change restarts it.
The passwords of an evaluation are generated once and then read from the cluster.
*/}}
{{- define "mediajobs.connections" -}}
{{- $name := printf "%s-connections" (include "mediajobs.fullname" .) -}}
{{- if .Values.evaluation.enabled }}
{{- $stored := (lookup "v1" "Secret" .Release.Namespace $name).data | default dict -}}
{{- $made := .mediajobsMade | default dict -}}
{{- if not $made }}
{{- range $key := list "POSTGRES_PASSWORD" "REDIS_PASSWORD" "S3_ACCESS_KEY_ID" "S3_SECRET_ACCESS_KEY" }}
{{- $_ := set $made $key (ternary (index $stored $key | default "" | b64dec) (randAlphaNum 32) (hasKey $stored $key)) }}
{{- end }}
{{- $_ := set . "mediajobsMade" $made }}
{{- end }}
{{- $full := include "mediajobs.fullname" . }}
{{- range $key, $value := $made }}
{{ $key }}: {{ $value | quote }}
{{- end }}
DATABASE_URL: {{ printf "postgresql://mediajobs:%s@%s-postgresql:5432/mediajobs" $made.POSTGRES_PASSWORD $full | quote }}
REDIS_URL: {{ printf "redis://:%s@%s-redis:6379" $made.REDIS_PASSWORD $full | quote }}
{{- else }}
{{- with .Values.database.url }}
DATABASE_URL: {{ . | quote }}
{{- end }}
{{- with .Values.redis.url }}
REDIS_URL: {{ . | quote }}
{{- end }}
{{- if .Values.s3.accessKeyId }}
S3_ACCESS_KEY_ID: {{ .Values.s3.accessKeyId | quote }}
S3_SECRET_ACCESS_KEY: {{ .Values.s3.secretAccessKey | quote }}
{{- end }}
{{- end }}
{{- end }}
