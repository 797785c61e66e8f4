{{/*
Settings of the pods of a workload, as YAML: `defaults`, overridden by those of the workload. Maps are merged; lists and
texts override when they are not empty. On OpenShift the platform sets user and groups.
dict: root, component (name of its values), fixed (texts that override securityContext)
*/}}
{{- define "mediajobs.podSettings" -}}
{{- $settings := deepCopy (index .root.Values .component) -}}
{{- range $name, $default := .root.Values.defaults }}
{{- $own := index $settings $name }}
{{- if kindIs "map" $default }}
{{- $_ := set $settings $name (mergeOverwrite (deepCopy $default) ($own | default dict)) }}
{{- else if not $own }}
{{- $_ := set $settings $name $default }}
{{- end }}
{{- end }}
{{- $_ := set $settings "securityContext" (mergeOverwrite (deepCopy $settings.securityContext) (.fixed | default dict)) -}}
{{- if eq (include "mediajobs.isOpenShift" .root) "true" }}
{{- $_ := set $settings "securityContext" (omit $settings.securityContext "runAsUser" "runAsGroup" "fsGroup") -}}
{{- $_ := set $settings "containerSecurityContext" (omit $settings.containerSecurityContext "runAsUser" "runAsGroup") -}}
{{- end }}
{{- toYaml $settings }}
{{- end }}

{{- define "mediajobs.isOpenShift" -}}
{{- if kindIs "bool" .Values.openshift }}{{ .Values.openshift }}{{ else }}{{ .Capabilities.APIVersions.Has "security.openshift.io/v1" }}{{ end }}
{{- end }}

{{/* Where pods run: dict root, settings */}}
{{- define "mediajobs.scheduling" -}}
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
{{- range $name := list "priorityClassName" "runtimeClassName" }}
{{- with index $.settings $name }}
{{ $name }}: {{ . }}
{{- end }}
{{- end }}
{{- range $name := list "nodeSelector" "tolerations" "affinity" "topologySpreadConstraints" }}
{{- with index $.settings $name }}
{{ $name }}: {{ toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- end }}

{{/* Metadata of a pod: dict root, component, settings, annotations (text) */}}
{{- define "mediajobs.podMetadata" -}}
labels:
  {{- include "mediajobs.podLabels" . | nindent 2 }}
{{- with include "mediajobs.podAnnotations" . | trim }}
annotations:
  {{- . | nindent 2 }}
{{- end }}
{{- end }}
{{- define "mediajobs.podLabels" -}}
{{- $own := dict "app.kubernetes.io/component" .component }}
{{- toYaml (merge $own (include "mediajobs.labels" .root | fromYaml) (deepCopy .settings.podLabels)) }}
{{- end }}
{{- define "mediajobs.podAnnotations" -}}
{{- with .annotations }}{{ . }}{{ end }}
{{- with .settings.podAnnotations }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/*
Spec of a pod with one container, named as the component.
dict: root, component, settings, image, command (list), env (text), volumes, mounts (texts), tmpSize,
      account (service account of the release; "" for one without permissions and token; default for the namespace's),
      token (whether it is mounted),
      trustedCa (whether it connects to stores), spec (text: further fields of the pod),
      container (text: further fields of the container)
*/}}
{{- define "mediajobs.podSpec" -}}
{{- $root := .root -}}
{{- $settings := .settings -}}
{{- $ca := and .trustedCa (include "mediajobs.trustedCaName" $root) -}}
{{- if ne (.account | default "idle") "default" }}
serviceAccountName: {{ include "mediajobs.fullname" $root }}-{{ .account | default "idle" }}
{{- end }}
automountServiceAccountToken: {{ .token | default false }}
enableServiceLinks: false
{{- with .spec }}
{{ . | trim }}
{{- end }}
securityContext: {{ toYaml $settings.securityContext | nindent 2 }}
{{- include "mediajobs.scheduling" (dict "root" $root "settings" $settings) }}
containers:
  - name: {{ .component }}
    image: {{ include "mediajobs.image" (dict "root" $root "image" .image) }}
    imagePullPolicy: {{ $root.Values.image.pullPolicy }}
    command: {{ toJson .command }}
    env:
      {{- with .env }}{{ . | trim | nindent 6 }}{{ end }}
      {{- if $ca }}
      - name: NODE_EXTRA_CA_CERTS
        value: /etc/mediajobs/trusted-ca/ca.pem
      {{- end }}
      {{- with $settings.extraEnv }}{{ toYaml . | nindent 6 }}{{ end }}
    {{- with $settings.extraEnvFrom }}
    envFrom: {{ toYaml . | nindent 6 }}
    {{- end }}
    {{- with .container }}
    {{- . | trim | nindent 4 }}
    {{- end }}
    resources: {{ toYaml $settings.resources | nindent 6 }}
    securityContext: {{ toYaml $settings.containerSecurityContext | nindent 6 }}
    volumeMounts:
      - {name: tmp, mountPath: /tmp}
      {{- with .mounts }}{{ . | trim | nindent 6 }}{{ end }}
      {{- if $ca }}
      - {name: trusted-ca, mountPath: /etc/mediajobs/trusted-ca, readOnly: true}
      {{- end }}
      {{- with $settings.extraVolumeMounts }}{{ toYaml . | nindent 6 }}{{ end }}
volumes:
  - name: tmp
    emptyDir: {sizeLimit: {{ .tmpSize | default "256Mi" }}}
  {{- with .volumes }}{{ . | trim | nindent 2 }}{{ end }}
  {{- if $ca }}
  - name: trusted-ca
    configMap:
      name: {{ .caName | default $ca }}
      items: [{key: {{ $root.Values.trustedCa.key | quote }}, path: ca.pem}]
  {{- end }}
  {{- with $settings.extraVolumes }}{{ toYaml . | nindent 2 }}{{ end }}
{{- end }}

{{/* ConfigMap of the trusted certificates; empty without any. */}}
{{- define "mediajobs.trustedCaName" -}}
{{- if .Values.trustedCa.existingConfigMap }}{{ .Values.trustedCa.existingConfigMap }}
{{- else if .Values.trustedCa.pem }}{{ include "mediajobs.fullname" . }}-trusted-ca
{{- end }}
{{- end }}

{{/* Data of the ConfigMap that the chart makes of `trustedCa.pem`. */}}
{{- define "mediajobs.trustedCaData" -}}
{{ .Values.trustedCa.key | quote }}: {{ .Values.trustedCa.pem | quote }}
{{- end }}
