{{/*
The Deployment of one process, with its PodDisruptionBudget.
dict: root, component, image, command (list), env (text), ports (list of dicts), graceSeconds,
      account (service account; "" for one without permissions and token), volumes, mounts (texts), tmpSize,
      preStopSeconds, trustedCa (whether it connects to stores)
*/}}
{{- define "mediajobs.deployment" -}}
{{- $root := .root -}}
{{- $settings := include "mediajobs.podSettings" (dict "root" $root "component" .component) | fromYaml -}}
{{- if not $settings.topologySpreadConstraints }}
{{- $_ := set $settings "topologySpreadConstraints" (include "mediajobs.spread" . | fromYamlArray) -}}
{{- end }}
{{- $name := printf "%s-%s" (include "mediajobs.fullname" $root) .component -}}
{{- $scaled := and (hasKey $settings "autoscaling") (dig "autoscaling" "enabled" false $settings) -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ $name }}
  labels:
    {{- include "mediajobs.labels" $root | nindent 4 }}
    app.kubernetes.io/component: {{ .component }}
spec:
  {{- if not $scaled }}
  replicas: {{ $settings.replicas }}
  {{- end }}
  revisionHistoryLimit: 3
  strategy:
    rollingUpdate: {maxUnavailable: 0, maxSurge: 1}
  selector:
    matchLabels:
      {{- include "mediajobs.selector" $root | nindent 6 }}
      app.kubernetes.io/component: {{ .component }}
  template:
    metadata:
      {{- include "mediajobs.podMetadata" (dict "root" $root "component" .component "settings" $settings
        "annotations" (include "mediajobs.restartOn" $root)) | nindent 6 }}
    spec:
      {{- include "mediajobs.podSpec" (merge (dict "settings" $settings
        "token" (has .account (list "controller" "recorder"))
        "spec" (printf "terminationGracePeriodSeconds: %v" .graceSeconds)
        "env" (printf "%s\n%s" (include "mediajobs.env.process" $root) .env)
        "container" (include "mediajobs.served" .)) .) | nindent 6 }}
{{- if $root.Values.podDisruptionBudgets }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ $name }}
  labels:
    {{- include "mediajobs.labels" $root | nindent 4 }}
    app.kubernetes.io/component: {{ .component }}
spec:
  maxUnavailable: 1
  unhealthyPodEvictionPolicy: AlwaysAllow
  selector:
    matchLabels:
      {{- include "mediajobs.selector" $root | nindent 6 }}
      app.kubernetes.io/component: {{ .component }}
{{- end }}
{{- end }}

{{/* Hash of what pods read at their start, so that a change restarts them. */}}
{{- define "mediajobs.restartOn" -}}
mediajobs.dev/connections: {{ printf "%s\n%s" (include "mediajobs.connections" .) .Values.trustedCa.pem | sha256sum | trunc 16 | quote }}
{{- end }}

{{- define "mediajobs.env.process" -}}
- name: MEDIAJOBS_LOG_LEVEL
  value: {{ .Values.logLevel }}
- name: MEDIAJOBS_OPS_HOST
  value: {{ .Values.listenHost | quote }}
{{- end }}

{{- define "mediajobs.spread" -}}
{{- range $key := list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
- maxSkew: 1
  topologyKey: {{ $key }}
  whenUnsatisfiable: ScheduleAnyway
  labelSelector:
    matchLabels:
      {{- include "mediajobs.selector" $.root | nindent 6 }}
      app.kubernetes.io/component: {{ $.component }}
{{- end }}
{{- end }}

{{/* Ports and probes of a process that serves. */}}
{{- define "mediajobs.served" -}}
ports:
  {{- range .ports }}
  - {name: {{ .name }}, containerPort: {{ .port }}}
  {{- end }}
  - {name: ops, containerPort: 9090}
startupProbe:
  httpGet: {path: /healthz, port: ops}
  periodSeconds: 1
  failureThreshold: 300
livenessProbe:
  httpGet: {path: /livez, port: ops}
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
readinessProbe:
  httpGet: {path: /readyz, port: ops}
  periodSeconds: 5
  timeoutSeconds: 6
{{- with .preStopSeconds }}
# Wait until every proxy has removed the pod from its endpoints.
lifecycle:
  preStop:
    sleep: {seconds: {{ . }}}
{{- end }}
{{- end }}

{{/* dict root, component, ports: list of dicts name, port, target */}}
{{- define "mediajobs.service" -}}
apiVersion: v1
kind: Service
metadata:
  name: {{ include "mediajobs.fullname" .root }}-{{ .component }}
  labels:
    {{- include "mediajobs.labels" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .component }}
  {{- with .annotations }}
  annotations: {{ toYaml . | nindent 4 }}
  {{- end }}
spec:
  type: {{ .type | default "ClusterIP" }}
  {{- with .clusterIP }}
  clusterIP: {{ . }}
  {{- end }}
  selector:
    {{- include "mediajobs.selector" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .component }}
  ports:
    {{- range .ports }}
    - name: {{ .name }}
      port: {{ .port }}
      targetPort: {{ .target }}
      {{- with .nodePort }}
      nodePort: {{ . }}
      {{- end }}
    {{- end }}
{{- end }}
