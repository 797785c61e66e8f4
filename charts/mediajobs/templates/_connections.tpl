{{/* Credentials among the values, which the chart puts into a Secret. Every pod has their hash. */}}
{{- define "mediajobs.connections" -}}
{{- if not .Values.evaluation.enabled }}
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

{{/* Secret of a credential without an existing one: that of the values, or of an evaluation. */}}
{{- define "mediajobs.connectionsName" -}}
{{ include "mediajobs.fullname" . }}-{{ ternary "evaluation" "connections" .Values.evaluation.enabled }}
{{- end }}
