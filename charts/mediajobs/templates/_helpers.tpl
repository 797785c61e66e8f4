{{- define "mediajobs.fullname" -}}
{{- $name := .Values.fullnameOverride | default (ternary .Release.Name (printf "%s-mediajobs" .Release.Name) (contains "mediajobs" .Release.Name)) -}}
{{- $name | trunc 40 | trimSuffix "-" -}}
{{- end }}

{{- define "mediajobs.selector" -}}
app.kubernetes.io/name: mediajobs
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "mediajobs.labels" -}}
{{ include "mediajobs.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{/* dict root, image (service or worker) */}}
{{- define "mediajobs.image" -}}
{{- $image := index .root.Values.image .image -}}
{{- with .root.Values.image.registry }}{{ . }}/{{ end }}{{ $image.repository }}
{{- if $image.digest }}@{{ $image.digest }}{{ else }}:{{ .root.Values.image.tag | default .root.Chart.AppVersion }}{{ end }}
{{- end }}

{{- define "mediajobs.baseUrl" -}}
{{- if .Values.baseUrl }}{{ .Values.baseUrl }}
{{- else if .Values.evaluation.enabled }}https://{{ include "mediajobs.fullname" . }}-api.{{ .Release.Namespace }}.svc
{{- else }}{{ fail "baseUrl is required: the public address of the service, such as https://media.example.com" }}
{{- end }}
{{- end }}

{{- define "mediajobs.secretName" -}}
{{ .Values.secrets.existingSecret | default (printf "%s-keys" (include "mediajobs.fullname" .)) }}
{{- end }}

{{- define "mediajobs.tlsSecretName" -}}
{{ .Values.tls.existingSecret | default (printf "%s-tls" (include "mediajobs.fullname" .)) }}
{{- end }}

{{- define "mediajobs.s3Endpoint" -}}
{{- if .Values.evaluation.enabled }}http://{{ include "mediajobs.fullname" . }}-s3.{{ .Release.Namespace }}.svc:7070{{ else }}{{ .Values.s3.endpoint }}{{ end }}
{{- end }}

{{/* A credential as an environment variable: dict root, name, given (value), secret, key */}}
{{- define "mediajobs.credential" -}}
- name: {{ .name }}
  valueFrom:
    secretKeyRef:
      name: {{ .secret | default (include "mediajobs.connectionsName" .root) }}
      key: {{ .key | default .name }}
{{- end }}

{{- define "mediajobs.env.database" -}}
{{- if not (or .Values.evaluation.enabled .Values.database.url .Values.database.existingSecret) }}
{{- fail "database.url or database.existingSecret is required: a PostgreSQL URL, or the Secret that holds it (or evaluation.enabled=true to try the service out)" }}
{{- end }}
{{- include "mediajobs.credential" (dict "root" . "name" "DATABASE_URL" "secret" .Values.database.existingSecret "key" (ternary .Values.database.existingSecretKey "DATABASE_URL" (ne .Values.database.existingSecret ""))) }}
{{- end }}

{{- define "mediajobs.env.redis" -}}
{{- if not (or .Values.evaluation.enabled .Values.redis.url .Values.redis.existingSecret) }}
{{- fail "redis.url or redis.existingSecret is required: a Redis URL, or the Secret that holds it (or evaluation.enabled=true to try the service out)" }}
{{- end }}
{{- include "mediajobs.credential" (dict "root" . "name" "REDIS_URL" "secret" .Values.redis.existingSecret "key" (ternary .Values.redis.existingSecretKey "REDIS_URL" (ne .Values.redis.existingSecret ""))) }}
{{- end }}

{{- define "mediajobs.env.files" -}}
{{- if not (or .Values.evaluation.enabled .Values.s3.bucket) }}
{{- fail "s3.bucket is required: the bucket that keeps the files (or evaluation.enabled=true to try the service out)" }}
{{- end -}}
- name: S3_BUCKET
  value: {{ ternary "mediajobs" .Values.s3.bucket .Values.evaluation.enabled | quote }}
- name: S3_REGION
  value: {{ .Values.s3.region | quote }}
- name: S3_PATH_STYLE
  value: {{ or .Values.evaluation.enabled .Values.s3.pathStyle | quote }}
{{- with include "mediajobs.s3Endpoint" . }}
- name: S3_ENDPOINT
  value: {{ . | quote }}
{{- end }}
{{- if or .Values.evaluation.enabled .Values.s3.existingSecret .Values.s3.accessKeyId }}
{{ include "mediajobs.credential" (dict "root" . "name" "S3_ACCESS_KEY_ID" "secret" .Values.s3.existingSecret) }}
{{ include "mediajobs.credential" (dict "root" . "name" "S3_SECRET_ACCESS_KEY" "secret" .Values.s3.existingSecret) }}
{{- end }}
{{ include "mediajobs.key" (dict "root" . "name" "MEDIAJOBS_LINK_KEYS") }}
{{- end }}

{{/* One of the service's keys as an environment variable: dict root, name */}}
{{- define "mediajobs.key" -}}
{{- include "mediajobs.credential" (dict "root" .root "name" .name "secret" (include "mediajobs.secretName" .root)) }}
{{- end }}

{{/* Namespace of MediaJobs and of the pods of jobs. */}}
{{- define "mediajobs.workerNamespace" -}}
{{ .Values.worker.namespace | default .Release.Namespace }}
{{- end }}

{{/* Where a process sends its spans; empty without tracing. */}}
{{- define "mediajobs.env.tracing" -}}
{{- if .Values.tracing.url -}}
- name: MEDIAJOBS_TRACES_URL
  value: {{ .Values.tracing.url | quote }}
- name: MEDIAJOBS_TRACES_SHARE
  value: {{ .Values.tracing.share | quote }}
{{- end }}
{{- end }}

{{/* Identity of a process in the leader election, and the objects that it works on. */}}
{{- define "mediajobs.env.pod" -}}
- name: MEDIAJOBS_RELEASE
  value: {{ include "mediajobs.fullname" . }}
- name: MEDIAJOBS_INSTANCE
  value: {{ .Release.Name }}
{{- with .Values.worker.namespace }}
- name: MEDIAJOBS_NAMESPACE
  value: {{ . }}
{{- end }}
- name: MEDIAJOBS_POD_NAME
  valueFrom: {fieldRef: {fieldPath: metadata.name}}
{{- end }}
