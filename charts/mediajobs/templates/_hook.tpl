{{/*
Jobs that must have run before the pods of a new version start. They are hooks of Helm and of Argo CD; tools that apply
whole renders create them with the rest. All that they need is a hook before them: cluster policies may deny what no
policy allows, and the release's own objects do not exist yet.
*/}}

{{/* dict: events, weight */}}
{{- define "mediajobs.hook" -}}
helm.sh/hook: {{ .events }}
helm.sh/hook-weight: {{ .weight | quote }}
helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
{{- end }}

{{/*
A Job whose name contains the hash of its spec, because a Job cannot be changed.
dict: root, component (also its name), values (name of its values), suffix (of its name), annotations (text), backoff; and as for mediajobs.podSpec
*/}}
{{- define "mediajobs.job" -}}
{{- $spec := include "mediajobs.jobSpec" . -}}
apiVersion: batch/v1
kind: Job
metadata:
  name: {{ include "mediajobs.fullname" .root }}-{{ .name | default .component }}-{{ $spec | sha256sum | trunc 8 }}
  labels:
    {{- include "mediajobs.labels" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .component }}
  {{- with .annotations }}
  annotations: {{ . | nindent 4 }}
  {{- end }}
spec:
  {{- $spec | nindent 2 }}
{{- end }}

{{- define "mediajobs.jobSpec" -}}
{{- $settings := include "mediajobs.podSettings" (dict "root" .root "component" .values) | fromYaml -}}
backoffLimit: 20
activeDeadlineSeconds: 1800
template:
  metadata:
    {{- include "mediajobs.podMetadata" (dict "root" .root "component" .component "settings" $settings) | nindent 4 }}
  spec:
    {{- include "mediajobs.podSpec" (merge (dict "settings" $settings "spec" "restartPolicy: OnFailure" "tmpSize" "64Mi") .) | nindent 4 }}
{{- end }}

{{/* A service account. dict: root, name, token, annotations (text) */}}
{{- define "mediajobs.serviceAccount" -}}
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ include "mediajobs.fullname" .root }}-{{ .name }}
  {{- with .namespace }}
  namespace: {{ . }}
  {{- end }}
  labels:
    {{- include "mediajobs.labels" .root | nindent 4 }}
  {{- with .annotations }}
  annotations: {{ . | nindent 4 }}
  {{- end }}
automountServiceAccountToken: {{ .token }}
{{- end }}

{{/* A Role and its RoleBinding to an account of the release. dict: root, name, account, rules (list), annotations (text), namespace */}}
{{- define "mediajobs.role" -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: {{ include "mediajobs.fullname" .root }}-{{ .name }}
  {{- with .namespace }}
  namespace: {{ . }}
  {{- end }}
  labels:
    {{- include "mediajobs.labels" .root | nindent 4 }}
  {{- with .annotations }}
  annotations: {{ . | nindent 4 }}
  {{- end }}
rules: {{ toYaml .rules | nindent 2 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: {{ include "mediajobs.fullname" .root }}-{{ .name }}
  {{- with .namespace }}
  namespace: {{ . }}
  {{- end }}
  labels:
    {{- include "mediajobs.labels" .root | nindent 4 }}
  {{- with .annotations }}
  annotations: {{ . | nindent 4 }}
  {{- end }}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: {{ include "mediajobs.fullname" .root }}-{{ .name }}}
subjects:
  - {kind: ServiceAccount, name: {{ include "mediajobs.fullname" .root }}-{{ .account | default .name }}, namespace: {{ .root.Release.Namespace }}}
{{- end }}
